// SPDX-License-Identifier: BSD-3-Clause
// Every failure sets the error code, names the file, and leaves nothing behind.
#include "vtk_support.hpp"

#include "bat/error.hpp"

#include "vtkFieldData.h"
#include "vtkInformation.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace vtk_support;

namespace
{
constexpr unsigned long kInvalidArgument =
  vtkErrorCode::UserError + static_cast<unsigned long>(bat::ErrorCode::InvalidArgument);

std::vector<char> Bytes(const std::string& path)
{
  std::ifstream in(path, std::ios::binary);
  return { std::istreambuf_iterator<char>(in), {} };
}

void Save(const std::string& path, const std::vector<char>& bytes)
{
  std::ofstream(path, std::ios::binary)
    .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void ExpectFailure(vtkBATReader* reader, unsigned long code)
{
  Messages messages(reader);
  reader->Update();
  EXPECT_EQ(reader->GetErrorCode(), code);
  EXPECT_EQ(reader->GetOutput()->GetNumberOfPoints(), 0);
  EXPECT_EQ(reader->GetOutput()->GetPointData()->GetNumberOfArrays(), 0);
  EXPECT_EQ(reader->GetLoadedCount(), 0);
  if (reader->GetFileName())
  {
    EXPECT_NE(messages.Errors.find(reader->GetFileName()), std::string::npos) << messages.Errors;
  }
  EXPECT_NE(messages.Errors, "");
}

void ExpectFileFailure(const std::string& path, unsigned long code)
{
  vtkNew<vtkBATReader> reader;
  reader->SetFileName(path.c_str());
  ExpectFailure(reader, code);
}
}

TEST(BATErrors, files_that_cannot_be_read)
{
  const TempDir folder;
  Write(Cloud(5000), folder / "good.bat");
  const std::vector<char> good = Bytes(folder / "good.bat");

  vtkNew<vtkBATReader> unnamed;
  ExpectFailure(unnamed, vtkErrorCode::NoFileNameError);
  ExpectFileFailure(folder / "missing.bat", vtkErrorCode::FileNotFoundError);
  ExpectFileFailure(folder.Path.string(), vtkErrorCode::CannotOpenFileError);

  Save(folder / "text.bat", std::vector<char>(1000, 'x'));
  ExpectFileFailure(folder / "text.bat", vtkErrorCode::UnrecognizedFileTypeError);

  Save(folder / "cut.bat", { good.begin(), good.begin() + static_cast<long>(good.size() / 2) });
  ExpectFileFailure(folder / "cut.bat", vtkErrorCode::PrematureEndOfFileError);

  std::vector<char> newer = good;
  newer[8] = 2; // version_major
  Save(folder / "newer.bat", newer);
  ExpectFileFailure(folder / "newer.bat", vtkErrorCode::FileFormatError);

  std::vector<char> damaged = good;
  damaged[5000] = static_cast<char>(damaged[5000] ^ 1); // in a column
  Save(folder / "damaged.bat", damaged);
  ExpectFileFailure(folder / "damaged.bat", vtkErrorCode::FileFormatError);

  EXPECT_EQ(vtkBATReader::CanReadFile((folder / "good.bat").c_str()), 1);
  EXPECT_EQ(vtkBATReader::CanReadFile((folder / "newer.bat").c_str()), 1);
  EXPECT_EQ(vtkBATReader::CanReadFile((folder / "text.bat").c_str()), 0);
  EXPECT_EQ(vtkBATReader::CanReadFile((folder / "missing.bat").c_str()), 0);
  EXPECT_EQ(vtkBATReader::CanReadFile(folder.Path.c_str()), 0);
  EXPECT_EQ(vtkBATReader::CanReadFile(nullptr), 0);
}

TEST(BATErrors, a_reader_recovers_when_the_cause_is_gone)
{
  const TempDir folder;
  Write(Cloud(100), folder / "a.bat");
  vtkNew<vtkBATReader> reader;
  reader->SetFileName((folder / "b.bat").c_str());
  ExpectFailure(reader, vtkErrorCode::FileNotFoundError);
  reader->SetFileName((folder / "a.bat").c_str());
  reader->Update();
  EXPECT_EQ(reader->GetErrorCode(), static_cast<unsigned long>(vtkErrorCode::NoError));
  EXPECT_EQ(reader->GetOutput()->GetNumberOfPoints(), 100);
}

TEST(BATErrors, questions_that_make_no_sense)
{
  const TempDir folder;
  Write(Cloud(100), folder / "a.bat");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  vtkNew<vtkBATReader> reader;
  reader->SetFileName((folder / "a.bat").c_str());

  for (double quality : { -0.1, 1.5, nan })
  {
    reader->SetQuality(quality);
    ExpectFailure(reader, kInvalidArgument);
  }
  reader->SetQuality(1.0);

  reader->UseBoxOn();
  reader->SetBox(1, 0, 0, 1, 0, 1);
  ExpectFailure(reader, kInvalidArgument);
  reader->SetBox(nan, 1, 0, 1, 0, 1);
  ExpectFailure(reader, kInvalidArgument);
  reader->UseBoxOff();

  const char* const ranges[][3] = { { "mass", "0", "1" }, { "index", "1", "0" },
    { "index", "nan", "1" }, { "index", "zero", "1" }, { "index[1]", "0", "1" }, { "", "0", "1" } };
  for (const auto& range : ranges)
  {
    reader->AddAttributeRange(range[0], range[1], range[2]);
    ExpectFailure(reader, kInvalidArgument);
    reader->ClearAttributeRanges();
  }
  reader->Update();
  EXPECT_EQ(reader->GetOutput()->GetNumberOfPoints(), 100);
}

TEST(BATErrors, a_question_that_fails_leaves_nothing_and_is_said_once)
{
  const TempDir folder;
  const auto cloud = Cloud(100);
  cloud->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), 2.5);
  Write(cloud, folder / "a.bat");
  vtkNew<vtkBATReader> reader;
  Messages messages(reader);
  reader->SetFileName((folder / "a.bat").c_str());
  reader->Update();
  vtkPolyData* output = reader->GetOutput();
  ASSERT_EQ(output->GetNumberOfPoints(), 100);
  ASSERT_GT(output->GetFieldData()->GetNumberOfArrays(), 0);
  ASSERT_TRUE(output->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()));
  EXPECT_STREQ(reader->GetErrorText(), "");

  reader->SetIdAttribute("index");
  reader->SetIds("7, 8x");
  reader->Update();
  EXPECT_EQ(reader->GetErrorCode(), kInvalidArgument);
  EXPECT_EQ(reader->GetErrorText(),
    folder / "a.bat" +
      ": Ids: '8x' is not a number; allowed are numbers and ranges such as 5-90, -3..7 or 100.., "
      "separated by spaces or commas");
  EXPECT_EQ(output->GetNumberOfPoints(), 0);
  EXPECT_EQ(output->GetNumberOfCells(), 0);
  EXPECT_EQ(output->GetPointData()->GetNumberOfArrays(), 0);
  EXPECT_EQ(output->GetFieldData()->GetNumberOfArrays(), 0);
  EXPECT_FALSE(output->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()));
  EXPECT_EQ(reader->GetLoadedQuality(), 0.0);
  EXPECT_EQ(reader->GetTargetQuality(), 0.0);
  EXPECT_EQ(reader->GetSuggestedRadius(), 0.0);
  const std::size_t first = messages.Errors.find("'8x' is not a number");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(messages.Errors.find("ERROR", first), std::string::npos) << messages.Errors;

  // For the pipeline nothing has failed: ParaView would not ask again.
  messages.Errors.clear();
  EXPECT_EQ(reader->GetExecutive()->Update(), 1);
  EXPECT_EQ(reader->GetErrorCode(), kInvalidArgument);
  EXPECT_EQ(messages.Errors, "");

  reader->SetIds("7, 8");
  reader->Update();
  EXPECT_EQ(reader->GetErrorCode(), static_cast<unsigned long>(vtkErrorCode::NoError));
  EXPECT_STREQ(reader->GetErrorText(), "");
  EXPECT_EQ(output->GetNumberOfPoints(), 2);
}

TEST(BATErrors, files_that_are_looked_at_in_turn_have_their_errors_said_once)
{
  const TempDir folder;
  Write(Cloud(100), folder / "a.bat");
  vtkNew<vtkBATReader> reader;
  Messages messages(reader);
  for (int round = 0; round < 3; ++round)
  {
    for (const char* name : { "a.bat", "gone.bat", "lost.bat" })
    {
      reader->SetFileName((folder / name).c_str());
      reader->Update();
      EXPECT_EQ(reader->GetOutput()->GetNumberOfPoints(), name[0] == 'a' ? 100 : 0);
      EXPECT_EQ(reader->GetErrorText()[0] == '\0', name[0] == 'a') << reader->GetErrorText();
    }
    EXPECT_EQ(messages.Errors.find("gone.bat") != std::string::npos, round == 0);
    EXPECT_EQ(messages.Errors.find("lost.bat") != std::string::npos, round == 0);
    messages.Errors.clear();
  }
  // Another question is answered again.
  reader->SetQuality(0.5);
  reader->Update();
  EXPECT_NE(messages.Errors.find("lost.bat"), std::string::npos);
}

TEST(BATErrors, a_list_of_ranges_that_ends_within_one_is_answered_with_what_is_allowed)
{
  const TempDir folder;
  Write(Cloud(100), folder / "a.bat");
  vtkNew<vtkBATReader> reader;
  reader->SetFileName((folder / "a.bat").c_str());
  for (const char* text : { "index", "5" })
  {
    reader->AddAttributeRangeText(text);
    ExpectFailure(reader, kInvalidArgument);
    EXPECT_NE(
      std::string(reader->GetErrorText()).find("'" + std::string(text) + "'"), std::string::npos)
      << reader->GetErrorText();
  }
  EXPECT_NE(std::string(reader->GetErrorText()).find("a minimum and a maximum"), std::string::npos);
  reader->AddAttributeRangeText("6");
  reader->Update();
  EXPECT_EQ(reader->GetOutput()->GetNumberOfPoints(), 2);
  reader->ClearAttributeRanges();
  reader->Update();
  EXPECT_EQ(reader->GetOutput()->GetNumberOfPoints(), 100);
}

TEST(BATErrors, an_unknown_attribute_is_answered_with_those_there_are)
{
  const TempDir folder;
  Write(Cloud(100), folder / "a.bat");
  vtkNew<vtkBATReader> reader;
  Messages messages(reader);
  reader->SetFileName((folder / "a.bat").c_str());
  reader->AddAttributeRange("mass", "0", "1");
  reader->Update();
  EXPECT_NE(messages.Errors.find("mass"), std::string::npos) << messages.Errors;
  EXPECT_NE(messages.Errors.find("index"), std::string::npos) << messages.Errors;
}

TEST(BATErrors, a_write_that_fails_leaves_the_old_file)
{
  const TempDir folder;
  const std::string path = folder / "a.bat";
  Write(Cloud(100), path);
  const std::vector<char> before = Bytes(path);

  vtkNew<vtkBATWriter> writer;
  Messages messages(writer);
  writer->SetInputDataObject(Cloud(50));
  EXPECT_EQ(writer->Write(), 0);
  EXPECT_EQ(writer->GetErrorCode(), static_cast<unsigned long>(vtkErrorCode::NoFileNameError));

  writer->SetFileName((folder / "no/such/folder/a.bat").c_str());
  EXPECT_EQ(writer->Write(), 0);
  EXPECT_EQ(writer->GetErrorCode(), static_cast<unsigned long>(vtkErrorCode::CannotOpenFileError));
  EXPECT_NE(messages.Errors.find("no/such/folder"), std::string::npos) << messages.Errors;

  writer->SetFileName(path.c_str());
  writer->SetTreeletParticles(3);
  EXPECT_EQ(writer->Write(), 0);
  EXPECT_EQ(writer->GetErrorCode(), kInvalidArgument);
  EXPECT_NE(messages.Errors.find("a.bat"), std::string::npos) << messages.Errors;

  writer->SetTreeletParticles(8192);
  writer->AddSortedIndex("nothing");
  EXPECT_EQ(writer->Write(), 0);
  EXPECT_EQ(writer->GetErrorCode(), kInvalidArgument);
  EXPECT_NE(messages.Errors.find("'nothing'"), std::string::npos) << messages.Errors;
  writer->ClearSortedIndexes();
  messages.Errors.clear();
  writer->SetIntegerOption("threads", -1);
  writer->SetIntegerOption("flush", 0);
  EXPECT_NE(messages.Errors.find("threads is -1; a whole number from 0"), std::string::npos)
    << messages.Errors;
  EXPECT_EQ(writer->Write(), 0);
  EXPECT_EQ(writer->GetErrorCode(), kInvalidArgument);
  EXPECT_NE(messages.Errors.find("a.bat: threads is -1;"), std::string::npos) << messages.Errors;
  writer->SetIntegerOption("threads", 1);
  writer->AddObserver(
    vtkCommand::ProgressEvent, writer.Get(), &vtkBATWriter::SetAbortExecuteAndUpdateTime);
  EXPECT_EQ(writer->Write(), 0);
  EXPECT_EQ(Bytes(path), before);
  EXPECT_EQ(
    std::distance(std::filesystem::directory_iterator(folder.Path), {}), 1); // no temporaries
}

TEST(BATErrors, folders_that_cannot_be_written)
{
  const TempDir folder;
  Save(folder / "file", { 'x' });
  std::vector<std::string> paths = { "/proc/a.bat", folder / "file/a.bat", folder.Path.string() };
  if (::geteuid() != 0) // root may write anywhere
  {
    std::filesystem::create_directory(folder / "closed");
    ::chmod((folder / "closed").c_str(), 0500);
    paths.push_back(folder / "closed/a.bat");
  }
  for (const std::string& path : paths)
  {
    vtkNew<vtkBATWriter> writer;
    Messages messages(writer);
    writer->SetInputDataObject(Cloud(50));
    writer->SetFileName(path.c_str());
    EXPECT_EQ(writer->Write(), 0);
    EXPECT_EQ(writer->GetErrorCode(), static_cast<unsigned long>(vtkErrorCode::CannotOpenFileError))
      << messages.Errors;
    EXPECT_NE(messages.Errors.find(path), std::string::npos) << messages.Errors;
  }
}
