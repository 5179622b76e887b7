// SPDX-License-Identifier: BSD-3-Clause
// Finds the endpoint and the credentials of objects at s3:// addresses, as the AWS tools do.
#pragma once

#include "common/io/remote/address.hpp"

#include <map>
#include <string>

namespace bat::io
{
/// What the environment and the AWS profile say. Credentials appear in no message.
struct S3Access
{
  std::string endpoint; ///< "https://host:port"; empty for AWS
  std::string region = "us-east-1";
  std::string key_id; ///< empty: requests are anonymous
  std::string secret;
  std::string token; ///< of temporary credentials, else empty
};

/// Reads, in this order: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the keys
/// of AWS_PROFILE ("default") in AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and
/// AWS_CONFIG_FILE
/// (~/.aws/config). The endpoint is that of AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or the profile,
/// and the region that of AWS_REGION, AWS_DEFAULT_REGION or the profile. Throws
/// Error{InvalidArgument} if AWS_PROFILE names a profile without access keys.
[[nodiscard]] S3Access read_s3_access();

/// Returns the http or https address of an object: ENDPOINT/BUCKET/KEY, or the virtual host of the
/// bucket at AWS. Throws Error{InvalidArgument} if the endpoint is not an http or https address.
[[nodiscard]] Address find_s3_object(const Address& object, const S3Access& access);

using IniSections = std::map<std::string, std::map<std::string, std::string>>;
/// Parses "[section]" and "key = value" lines. Ignores comments, indented lines (nested values) and
/// everything else.
[[nodiscard]] IniSections parse_ini(const std::string& text);
}
