// SPDX-License-Identifier: BSD-3-Clause
// The steps in which a reader refines, without a reader.
#include "ReaderNumbers.h"
#include "Refining.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace
{
constexpr std::uint64_t File = 1; // a generation
constexpr double First = 0.01;    // what a first step is of all particles
constexpr double All = 1.0;

bat::Query Everything()
{
  return {};
}

bat::Query InBox(double upper)
{
  bat::Query query;
  query.box = bat::Box{ { 0.0, 0.0, 0.0 }, { upper, upper, upper } };
  return query;
}

// An update that loads what it chooses.
double Update(bat_vtk::Refining& refining, const bat::Query& query = Everything(),
  double target = All, std::uint64_t file = File)
{
  refining.Begin();
  const double quality = refining.Choose(query, file, target, First);
  refining.Loaded();
  return quality;
}

double Step(
  bat_vtk::Refining& refining, const bat::Query& query = Everything(), double target = All)
{
  refining.AskForStep();
  return Update(refining, query, target);
}

TEST(Refining, the_first_update_takes_a_first_step_and_others_no_further_one)
{
  bat_vtk::Refining refining;
  EXPECT_EQ(Update(refining), First);
  EXPECT_EQ(Update(refining), First);
  EXPECT_EQ(Step(refining), 2 * First);
  EXPECT_EQ(Update(refining), 2 * First);
}

TEST(Refining, steps_grow_with_what_is_there_and_end_at_the_target)
{
  bat_vtk::Refining refining;
  std::vector<double> qualities{ Update(refining) };
  while (qualities.back() < 0.7)
  {
    qualities.push_back(Step(refining, Everything(), 0.7));
    ASSERT_LT(qualities.size(), 100U);
    const double before = qualities[qualities.size() - 2];
    const double growth = std::max(First, bat_vtk::StepGrowth * before);
    const double step = qualities.back() - before;
    if (qualities.back() < 0.7)
    {
      EXPECT_NEAR(step, growth, 1e-12);
    }
    EXPECT_LE(step, growth * (1 + bat_vtk::SmallRest));
  }
  EXPECT_EQ(qualities.back(), 0.7);
  EXPECT_EQ(Step(refining, Everything(), 0.7), 0.7);
}

TEST(Refining, a_small_rest_is_no_step_of_its_own)
{
  bat_vtk::Refining refining;
  Update(refining);
  EXPECT_EQ(Step(refining, Everything(), 2.2 * First), 2.2 * First);
  bat_vtk::Refining other;
  Update(other);
  EXPECT_EQ(Step(other, Everything(), 2.3 * First), 2 * First);
}

TEST(Refining, another_question_and_another_file_begin_anew)
{
  bat_vtk::Refining refining;
  Update(refining, InBox(1.0));
  EXPECT_EQ(Step(refining, InBox(1.0)), 2 * First);
  EXPECT_EQ(Update(refining, InBox(2.0)), First);
  EXPECT_EQ(Step(refining, InBox(3.0)), First);
  EXPECT_EQ(Step(refining, InBox(3.0)), 2 * First);
  EXPECT_EQ(Update(refining, InBox(3.0), All, File + 1), First);
}

TEST(Refining, a_lower_target_takes_away_and_a_higher_one_goes_on)
{
  bat_vtk::Refining refining;
  Update(refining);
  Step(refining);
  EXPECT_EQ(Step(refining), 3 * First);
  EXPECT_EQ(Update(refining, Everything(), First / 2), First / 2);
  EXPECT_EQ(Update(refining), First);
}

TEST(Refining, a_part_of_the_question_changes_no_step)
{
  bat_vtk::Refining refining;
  Update(refining);
  bat::Query part;
  part.part = 1;
  part.parts = 2;
  part.quality = 0.3;
  EXPECT_EQ(Step(refining, part), 2 * First);
}

TEST(Refining, a_step_that_is_put_off_waits_until_it_is_asked_for_again)
{
  bat_vtk::Refining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin();
  EXPECT_FALSE(refining.IsPutOff());
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), 2 * First);
  refining.PutOff();
  EXPECT_TRUE(refining.IsPutOff());
  refining.Cancelled();
  EXPECT_FALSE(refining.IsAborted());
  EXPECT_EQ(Update(refining), First);
  EXPECT_FALSE(refining.IsPutOff());
  EXPECT_EQ(Step(refining), 2 * First);
}

TEST(Refining, only_a_step_can_be_put_off)
{
  bat_vtk::Refining refining;
  refining.PutOff();
  EXPECT_FALSE(refining.IsPutOff());
  refining.Begin();
  refining.Choose(Everything(), File, All, First);
  refining.PutOff();
  EXPECT_FALSE(refining.IsPutOff());
  refining.Loaded();
  refining.PutOff();
  EXPECT_EQ(Step(refining), 2 * First);
}

TEST(Refining, what_is_aborted_is_loaded_by_the_next_update)
{
  bat_vtk::Refining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin();
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), 2 * First);
  refining.Cancelled();
  EXPECT_TRUE(refining.IsAborted());
  EXPECT_EQ(Step(refining), 2 * First); // not a step further
  EXPECT_FALSE(refining.IsAborted());
  EXPECT_EQ(Step(refining), 3 * First);
}

TEST(Refining, a_failure_is_no_abort)
{
  bat_vtk::Refining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin();
  refining.Choose(Everything(), File, All, First);
  refining.Cancelled();
  refining.Failed(); // in another process
  EXPECT_FALSE(refining.IsAborted());
  EXPECT_EQ(Update(refining), 2 * First);
  EXPECT_EQ(Step(refining), 3 * First);
}

TEST(Refining, what_other_processes_make_load_again_is_no_further_step)
{
  bat_vtk::Refining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin();
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), 2 * First);
  refining.Loaded();
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), 2 * First);
  refining.Loaded();
  EXPECT_EQ(Update(refining), 2 * First);

  refining.AskForStep();
  refining.Begin();
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), 3 * First);
  refining.Cancelled(); // an abort that is too late for the others
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), 3 * First);
  refining.Loaded();
  EXPECT_FALSE(refining.IsAborted());
}

void LoadAtOnce(bat_vtk::Refining& refining, double quality, const bat::Query& query = Everything())
{
  bat::Query all = query;
  all.quality = quality;
  refining.Begin();
  refining.LoadAtOnce(all, File);
}

TEST(Refining, what_was_loaded_without_steps_stays_and_is_where_they_begin)
{
  bat_vtk::Refining refining;
  LoadAtOnce(refining, 0.3);
  refining.Loaded();
  EXPECT_EQ(Update(refining), 0.3);
  EXPECT_NEAR(Step(refining), 0.3 * (1 + bat_vtk::StepGrowth), 1e-12);
  EXPECT_EQ(Update(refining, InBox(1.0)), First); // another question has nothing to keep
}

TEST(Refining, without_steps_an_abort_or_a_failure_leaves_no_more_than_there_was)
{
  bat_vtk::Refining refining;
  Update(refining);
  LoadAtOnce(refining, 0.3);
  refining.Cancelled();
  EXPECT_TRUE(refining.IsAborted());
  EXPECT_EQ(Update(refining), First);
  LoadAtOnce(refining, 0.3);
  refining.Failed();
  EXPECT_EQ(Update(refining), First);
}

TEST(Refining, a_step_that_is_asked_for_during_an_update_is_the_next_one)
{
  bat_vtk::Refining refining;
  refining.AskForStep();
  refining.Begin();
  EXPECT_EQ(refining.Choose(Everything(), File, All, First), First);
  refining.AskForStep();
  refining.Loaded();
  EXPECT_EQ(Update(refining), 2 * First);
}
}
