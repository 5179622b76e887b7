// SPDX-License-Identifier: BSD-3-Clause
// Addresses of remote files, names of leaves, settings and AWS profiles.

#include "common/io/remote/address.hpp"
#include "common/io/remote/response.hpp"
#include "common/io/remote/s3.hpp"
#include "common/io/remote/settings.hpp"

#include "bat/error.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace
{
using namespace bat;
using namespace bat::io;

std::string normalized(const std::string& text)
{
  return format_address(parse_address(text));
}

std::string refusal(const std::string& text)
{
  const auto error = bat::attempt([&] { (void)parse_address(text); });
  EXPECT_TRUE(error) << text;
  EXPECT_TRUE(error && error->code() == bat::ErrorCode::InvalidArgument);
  return error ? error->what() : "";
}

class Environment : public testing::Test
{
protected:
  Environment()
  {
    for (const char* const name :
      { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
        "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
        "PARABAT_CACHE", "PARABAT_REMOTE_GAP", "PARABAT_REMOTE_REQUESTS" })
    {
      ::unsetenv(name);
    }
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", (this->folder / "credentials").c_str(), 1);
    ::setenv("AWS_CONFIG_FILE", (this->folder / "config").c_str(), 1);
  }

  TempDir folder;
};

TEST(RemoteAddress, knows_addresses_from_paths)
{
  EXPECT_TRUE(is_address("http://h/a"));
  EXPECT_TRUE(is_address("HTTPS://h/a"));
  EXPECT_TRUE(is_address("s3://bucket/key"));
  for (const char* const path :
    { "", "http", "http:", "http:/a", "file:///a", "ftp://h/a", "/http://a", "a/http://b", "s3:" })
  {
    EXPECT_FALSE(is_address(path)) << path;
  }
}

TEST(RemoteAddress, encodes_what_an_address_cannot_contain)
{
  EXPECT_EQ(normalized("http://Host/a b%2Fc%zz.bat"), "http://host/a%20b%2Fc%25zz.bat");
  EXPECT_EQ(normalized("https://h:8443/\xc3\xa4?q=a b#part"), "https://h:8443/%C3%A4?q=a%20b");
  EXPECT_EQ(normalized("http://[::1]:80/a"), "http://[::1]:80/a");
  EXPECT_EQ(normalized("http://user:p%40ss@h/a"), "http://user:p%40ss@h/a");
  EXPECT_EQ(normalized("http://u@x:p@h/a"), "http://u%40x:p@h/a");
  EXPECT_EQ(normalized("http://h"), "http://h/");
  EXPECT_EQ(normalized("http://h?a=b"), "http://h/?a=b");
}

TEST(RemoteAddress, takes_the_key_of_an_object_literally)
{
  const Address address = parse_address("s3://My.bucket/a b/100%20?x#y");
  EXPECT_EQ(address.host, "My.bucket");
  EXPECT_EQ(address.path, "/a%20b/100%2520%3Fx%23y");
  EXPECT_EQ(format_address(address), "s3://My.bucket/a b/100%20?x#y");
  EXPECT_EQ(safe_name(address), "s3://My.bucket/a b/100%20?x#y");
}

TEST(RemoteAddress, refuses_invalid_addresses_without_showing_secrets)
{
  for (const char* const text : { "http://", "http:///a", "http://u:SECRET@/a", "http://h:0/a",
         "http://h:65536/a?SECRET", "http://h:x/a", "http://a b/c?SECRET", "http://[::1/a",
         "http://[v1.x]/a", "http://u:SECRET/SECRET@h/a", "http://u:SECRET?SECRET@h/a",
         "s3://bucket", "s3://bucket/", "s3:///key", "file:///etc/passwd", "ftp://SECRET@h/a" })
  {
    const std::string message = refusal(text);
    EXPECT_EQ(message.find("SECRET"), std::string::npos) << message;
  }
}

TEST(RemoteAddress, names_files_without_secrets)
{
  EXPECT_EQ(safe_name(parse_address("https://u:secret@h:1/a.bat?sig=secret")), "https://h:1/a.bat");
  EXPECT_EQ(safe_name(std::string_view("https://u:secret@h/a?b@c")), "https://h/a?...");
  EXPECT_EQ(safe_name(std::string_view("gs://u:secret@h")), "gs://h");
  EXPECT_EQ(origin_of(parse_address("https://h/a")), "https://h:443");
  EXPECT_EQ(origin_of(parse_address("http://h:8080/a")), "http://h:8080");
}

TEST(RemoteAddress, resolves_leaves_in_the_folder_of_the_top_file)
{
  EXPECT_EQ(resolve_leaf("http://h/run/top.bat", "0001.bat"), "http://h/run/0001.bat");
  EXPECT_EQ(resolve_leaf("http://h/top.bat", "leaves/a b.bat"), "http://h/leaves/a%20b.bat");
  EXPECT_EQ(resolve_leaf("http://h/top.bat", "%2F%2e?x#y"), "http://h/%252F%252e%3Fx%23y");
  EXPECT_EQ(resolve_leaf("http://h/top.bat", "http:x"), "http://h/http%3Ax");
  EXPECT_EQ(resolve_leaf("https://u:p@h:1/a/top.bat?token=t", "b"), "https://u:p@h:1/a/b?token=t");
  EXPECT_EQ(resolve_leaf("s3://bucket/a/top.bat", "b c%20"), "s3://bucket/a/b c%20");
}

TEST(RemoteAddress, keeps_leaves_below_the_folder)
{
  for (const std::string leaf : { "", "/a", "../a", "a/../../b", "a/..", "./a", "a//b", "a/",
         "..\\a", "http://evil/a", "//evil/a", "file:///a", "a\nb" })
  {
    const auto error =
      bat::attempt([&] { (void)resolve_leaf("http://u:secret@h/run/top.bat", leaf); });
    ASSERT_TRUE(error) << leaf;
    EXPECT_EQ(error->code(), bat::ErrorCode::InvalidArgument);
    EXPECT_EQ(std::string(error->what()).find("secret"), std::string::npos);
  }
}

TEST(RemoteAddress, a_local_file_names_no_address)
{
  EXPECT_FALSE(is_address(path_beside("top.bat", "http://host/a.bat").string()));
  EXPECT_FALSE(is_address(path_beside("folder/top.bat", "http://host/a.bat").string()));
  EXPECT_EQ(path_beside("top.bat", "a.bat"), "a.bat");
  EXPECT_EQ(path_beside("folder/top.bat", "a.bat"), "folder/a.bat");
}

TEST(RemoteAddress, a_name_shows_the_kind_of_a_file)
{
  EXPECT_EQ(file_name("folder/a.idx"), "a.idx");
  EXPECT_EQ(file_name("http://host/x%20y/a%20b.idx?token=c.bat"), "a b.idx");
  EXPECT_EQ(file_name("http://host/mod_visus?action=readdataset&dataset=a%20b"), "a b.idx");
  EXPECT_EQ(file_name("http://host/x/mod_visus?dataset=group/a&cached=arco"), "a.idx");
  EXPECT_EQ(file_name("http://host/mod_visus"), "mod_visus");
  EXPECT_EQ(file_name("http://host/a.idx?dataset=b"), "a.idx");
}

TEST(RemoteAddress, finds_secrets)
{
  EXPECT_EQ(find_secret("http://host/mod_visus?dataset=a&~auth_password=b"), "~auth_password");
  EXPECT_EQ(find_secret("http://host/a.idx?secret_key=any&cached=arco"), "");
}

TEST(RemoteResponse, keeps_other_headers)
{
  Response response;
  response.add_line("HTTP/1.1 200 OK\r\n");
  response.add_line("Visus-Layout:  hzorder \r\n");
  response.add_line("status-0: 404\r\n");
  ASSERT_EQ(response.others.size(), 2U);
  EXPECT_EQ(response.others[0].first, "visus-layout");
  EXPECT_EQ(response.others[0].second, "hzorder");
  for (std::size_t i = 0; i != 2 * kMaxHeaders; ++i)
  {
    response.add_line("x: y\r\n");
  }
  EXPECT_EQ(response.others.size(), kMaxHeaders);
  response.add_line("HTTP/1.1 200 OK\r\n");
  EXPECT_TRUE(response.others.empty());
}

TEST(RemoteResponse, parses_ranges_and_dates)
{
  const auto range = parse_content_range("bytes 0-99/1000");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->last, 99U);
  EXPECT_EQ(range->total, 1000U);
  for (const char* const text : { "", "bytes 0-99/*", "bytes */5", "bytes 0-99/10x", "items 0-1/2",
         "bytes -1-2/3", "bytes 0-99999999999999999999/1" })
  {
    EXPECT_FALSE(parse_content_range(text)) << text;
  }
  EXPECT_EQ(parse_retry_after("7", 0)->count(), 7000);
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:00:10 GMT", 4)->count(), 6000);
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:00:01 GMT", 4)->count(), 0);
  EXPECT_FALSE(parse_retry_after("soon", 0));
}

TEST_F(Environment, settings_are_read_and_checked)
{
  ::setenv("PARABAT_REMOTE_GAP", "1M", 1);
  ::setenv("PARABAT_CACHE", "/tmp/a:b:1.5G", 1);
  const RemoteSettings settings = read_remote_settings();
  EXPECT_EQ(settings.max_gap, 1U << 20);
  EXPECT_EQ(settings.cache_folder, "/tmp/a:b");
  EXPECT_EQ(settings.cache_bytes, 3U << 29);
  ::setenv("PARABAT_CACHE", "/tmp/a", 1);
  EXPECT_EQ(read_remote_settings().cache_folder, "/tmp/a");
  for (const char* const value : { "x", "-1", "1Q", "9M", "nan", "" })
  {
    ::setenv("PARABAT_REMOTE_GAP", value, 1);
    EXPECT_EQ(bat::attempt([] { (void)read_remote_settings(); }).has_value(), *value != '\0')
      << value;
  }
  ::setenv("PARABAT_REMOTE_REQUESTS", "0", 1);
  EXPECT_TRUE(bat::attempt([] { (void)read_remote_settings(); }));
}

TEST_F(Environment, access_keys_come_from_variables_before_profiles)
{
  std::ofstream(this->folder / "credentials") << "# comment\n[default]\naws_access_key_id = A\n"
                                                 "aws_secret_access_key=B=\n[other]\r\n"
                                                 "aws_access_key_id = C\r\n"
                                                 "aws_secret_access_key = D\r\n"
                                                 "aws_session_token = E\r\n";
  std::ofstream(this->folder / "config")
    << "[default]\nregion = r1\n[profile other]\nregion = r2\ns3 =\n  endpoint_url = http://no\n"
       "endpoint_url = http://store:9000/\n[profile sso]\nsso_session = x\n";
  S3Access access = read_s3_access();
  EXPECT_EQ(access.key_id, "A");
  EXPECT_EQ(access.secret, "B=");
  EXPECT_EQ(access.region, "r1");
  ::setenv("AWS_PROFILE", "other", 1);
  access = read_s3_access();
  EXPECT_EQ(access.key_id, "C");
  EXPECT_EQ(access.token, "E");
  EXPECT_EQ(access.endpoint, "http://store:9000/");
  EXPECT_EQ(format_address(find_s3_object(parse_address("s3://b/k k"), access)),
    "http://store:9000/b/k%20k");
  ::setenv("AWS_PROFILE", "sso", 1);
  EXPECT_TRUE(bat::attempt([] { (void)read_s3_access(); }));
  ::setenv("AWS_ACCESS_KEY_ID", "F", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "G", 1);
  access = read_s3_access();
  EXPECT_EQ(access.key_id, "F");
  EXPECT_EQ(access.token, "");
}

TEST_F(Environment, objects_of_aws_have_virtual_hosts)
{
  S3Access access = read_s3_access();
  EXPECT_TRUE(access.key_id.empty());
  access.region = "eu-west-1";
  const auto find = [&](const char* object)
  { return format_address(find_s3_object(parse_address(object), access)); };
  EXPECT_EQ(find("s3://bucket/a/b"), "https://bucket.s3.eu-west-1.amazonaws.com/a/b");
  EXPECT_EQ(find("s3://my.bucket/a"), "https://s3.eu-west-1.amazonaws.com/my.bucket/a");
  access.endpoint = "ftp://x";
  EXPECT_TRUE(bat::attempt([&] { (void)find("s3://bucket/a"); }));
}
}
