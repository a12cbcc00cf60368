#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// What every Store must do. A kind of store runs it with
/// INSTANTIATE_TEST_SUITE_P(Name, StoreContract, ::testing::Values(factory)), where factory makes
/// an empty store.
using StoreFactory = std::function<std::shared_ptr<Store>()>;

class StoreContract : public ::testing::TestWithParam<StoreFactory> {
 protected:
  std::shared_ptr<Store> store_ = GetParam()();
};

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

inline ErrorCode code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "expected an Error";
  return ErrorCode::internal;
}

TEST_P(StoreContract, WhatIsPutIsRead) {
  store_->put("a/b/c", bytes_of("hello"));
  EXPECT_EQ(store_->get_text("a/b/c"), "hello");
  EXPECT_EQ(store_->open("a/b/c")->size_bytes(), 5U);
  store_->put("empty", {});
  EXPECT_EQ(store_->get("empty").size(), 0U);
}

TEST_P(StoreContract, RangesAreReadExactly) {
  store_->put("k", bytes_of("0123456789"));
  const auto object = store_->open("k");
  std::vector<std::byte> part(4);
  object->read(3, part);
  EXPECT_EQ(part, bytes_of("3456"));
  object->read(10, {});
}

TEST_P(StoreContract, ReadingPastTheEndIsCorrupt) {
  store_->put("k", bytes_of("0123456789"));
  std::vector<std::byte> part(4);
  EXPECT_EQ(code_of([&] { store_->open("k")->read(7, part); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { store_->open("k")->read(1000, part); }), ErrorCode::corrupt);
}

TEST_P(StoreContract, AMissingKeyIsNullAndGetNamesIt) {
  EXPECT_EQ(store_->open("no/such"), nullptr);
  EXPECT_FALSE(store_->exists("no/such"));
  try {
    store_->get("no/such");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(error.what()).find("no/such"), std::string::npos);
  }
}

TEST_P(StoreContract, AFolderOrAPathBelowAnObjectIsNoObject) {
  store_->put("a/b", bytes_of("x"));
  EXPECT_EQ(store_->open("a"), nullptr);
  EXPECT_EQ(store_->open("a/b/c"), nullptr);
}

TEST_P(StoreContract, PutReplacesAndOpenSeesTheNewObject) {
  store_->put("k", bytes_of("old"));
  const auto before = store_->open("k");
  store_->put("k", bytes_of("newer"));
  EXPECT_EQ(store_->get_text("k"), "newer");
  std::vector<std::byte> part(3);
  before->read(0, part);  // an open object stays what it was
  EXPECT_EQ(part, bytes_of("old"));
}

TEST_P(StoreContract, EraseRemovesAndIsQuietAboutNothing) {
  store_->put("a/k", bytes_of("x"));
  EXPECT_TRUE(store_->exists("a/k"));
  store_->erase("a/k");
  EXPECT_FALSE(store_->exists("a/k"));
  store_->erase("a/k");
  store_->erase("a/k/below");
}

TEST_P(StoreContract, ListIsSortedBytewiseAndFiltersByPrefix) {
  for (const char* key : {"b/2", "b/10", "b/1", "a", "b-x", "c/d/e"})
    store_->put(key, bytes_of("x"));
  EXPECT_EQ(store_->list(""),
            (std::vector<std::string>{"a", "b-x", "b/1", "b/10", "b/2", "c/d/e"}));
  EXPECT_EQ(store_->list("b/"), (std::vector<std::string>{"b/1", "b/10", "b/2"}));
  EXPECT_EQ(store_->list("b"), (std::vector<std::string>{"b-x", "b/1", "b/10", "b/2"}));
  EXPECT_EQ(store_->list("b/1"), (std::vector<std::string>{"b/1", "b/10"}));
  EXPECT_TRUE(store_->list("none/").empty());
}

TEST_P(StoreContract, KeysThatLeaveTheStoreAreRefused) {
  for (const char* key : {"", "/a", "a/", "a//b", "../a", "a/../b", "./a"}) {
    EXPECT_EQ(code_of([&] { store_->put(key, bytes_of("x")); }), ErrorCode::usage) << key;
    EXPECT_EQ(code_of([&] { store_->open(key); }), ErrorCode::usage) << key;
  }
}

TEST_P(StoreContract, WritersOfOneKeyNeverMix) {
  const std::string a(100000, 'a'), b(70000, 'b');
  std::vector<std::thread> writers;
  for (const std::string& text : {a, b}) {
    writers.emplace_back([this, text] {
      for (int i = 0; i < 20; ++i) store_->put("k", bytes_of(text));
    });
  }
  for (int i = 0; i < 50; ++i) {
    if (!store_->exists("k")) continue;
    const std::string seen = store_->get_text("k");
    EXPECT_TRUE(seen == a || seen == b);
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(store_->list("").size(), 1U);
}

}  // namespace headrace::storage
