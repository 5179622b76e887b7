// SPDX-License-Identifier: BSD-3-Clause
// The functions of libcurl that remote files call. A build with BAT_CURL_AT_RUN_TIME is not linked
// with libcurl and looks for it when the first http, https or s3 address is opened: wheels run on
// systems whose libcurl has another version, or that have none.
#pragma once

#include <curl/curl.h>

namespace bat::io
{
struct Curl
{
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_getdate) getdate;
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_version_info) version_info;
};

/// Throws Error{CannotOpen} if the system has no libcurl, or one that is too old. Thread-safe.
[[nodiscard]] const Curl& curl();
}
