#pragma once

#include <gtest/gtest.h>

#include <string>

#include "proprio/core/error.h"

namespace proprio {

/// The message of the Error that the call throws; the test fails if it throws none.
template <class Call>
std::string messageOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace proprio
