#include "headrace/storage/open_store.hpp"

#include <fstream>

#include "tests/core/error_of.hpp"
#include "tests/storage/store_contract.hpp"
#include "tests/storage/test_folder.hpp"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

/// A store that has no more than what every store must have.
class Wrapped : public Store {
 public:
  explicit Wrapped(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}
  std::shared_ptr<const Object> open(const std::string& key) const override {
    return inner_->open(key);
  }
  void put(const std::string& key, std::span<const std::byte> bytes) override {
    inner_->put(key, bytes);
  }
  void erase(const std::string& key) override { inner_->erase(key); }
  std::vector<std::string> list(const std::string& prefix) const override {
    return inner_->list(prefix);
  }
  std::string describe(const std::string& key) const override { return inner_->describe(key); }

 private:
  std::shared_ptr<Store> inner_;
};

template <typename Made>
std::shared_ptr<Store> make_opened() {
  static std::vector<std::unique_ptr<TestFolder>> folders;
  folders.push_back(std::make_unique<TestFolder>());
  return Made::of(Place::parse(folders.back()->path()).join("läsion 1"));
}
struct AsPath {
  static std::shared_ptr<Store> of(const Place& place) { return open_store(place); }
};
struct AsFileUrl {
  static std::shared_ptr<Store> of(const Place& place) {
    std::string url = "file://" + place.path().string();
    url.replace(url.find(' '), 1, "%20");
    return open_store(Place::parse(url), {1, Durability::on_sync});
  }
};
struct AsWrapped {
  static std::shared_ptr<Store> of(const Place& place) {
    return std::make_shared<Wrapped>(open_store(place));
  }
};

INSTANTIATE_TEST_SUITE_P(Opened, StoreContract,
                         ::testing::Values(make_opened<AsPath>, make_opened<AsFileUrl>,
                                           make_opened<AsWrapped>));

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(OpenStore, AnUnknownSchemeIsRefusedInOneSentence) {
  for (const std::string url : {"az://container/store", "ftp://host/x", "gs://b"}) {
    const Place place = Place::parse(url);
    const std::string said =
        url + ": reading from " + place.scheme() + " is not supported; copy the store to a folder";
    EXPECT_EQ(error_of(ErrorCode::unsupported, [&] { open_store(place); }), said);
    EXPECT_EQ(error_of(ErrorCode::unsupported, [&] { open_existing_store(place); }), said);
    EXPECT_EQ(error_of(ErrorCode::unsupported, [&] { open_object(place); }), said);
  }
}

TEST(OpenStore, AHostThatNobodyNamedIsNotSpokenTo) {
  const Place place = Place::parse("https://unnamed.invalid/x/y");
  for (const std::string& said :
       {error_of(ErrorCode::usage, [&] { open_store(place); }),
        error_of(ErrorCode::usage, [&] { open_existing_store(place); }),
        error_of(ErrorCode::usage, [&] { open_object(place); }),
        error_of(ErrorCode::usage, [&] { open_input("https://unnamed.invalid/x/y"); })})
    EXPECT_NE(said.find("names the host unnamed.invalid:443"), said.npos) << said;
}

TEST(OpenStore, AUrlThatMayHoldASecretIsRefusedWithoutIt) {
  for (const char* url : {"http://h/x.svs?Signature=SECRET", "http://u:SECRET@h/x.svs",
                          "http://u:SECRET@h", "http://h/x.svs#SECRET"}) {
    for (const std::string& said :
         {error_of(ErrorCode::usage, [&] { open_input(url); }),
          error_of(ErrorCode::usage, [&] { open_store(Place::parse(url)); })})
      EXPECT_EQ(said.find("SECRET"), said.npos) << said;
  }
}

TEST(OpenStore, AnAbsentFolderIsAnEmptyStoreUntilTheFirstPut) {
  const TestFolder folder;
  const Place place = Place::parse(folder / "new");
  const auto store = open_store(place);
  EXPECT_TRUE(store->list("").empty());
  EXPECT_EQ(store->remove_leftovers(), 0U);
  store->sync();
  EXPECT_FALSE(fs::exists(place.path()));
  EXPECT_EQ(error_of(ErrorCode::not_found, [&] { open_existing_store(place); }),
            place.describe() + ": there is no such store");
  store->put_text("a/k", "text");
  EXPECT_EQ(open_existing_store(place)->get_text("a/k"), "text");
}

TEST(OpenStore, AnObjectIsOpenedByItsPlace) {
  const TestFolder folder;
  write(folder / "a file", "0123");
  const auto object = open_object(Place::parse(folder / "a file"));
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->size_bytes(), 4U);
  EXPECT_EQ(object->local_path(), folder / "a file");
  std::vector<std::byte> part(2);
  object->read(1, part);
  EXPECT_EQ(part, bytes_of("12"));
  EXPECT_EQ(open_object(Place::parse(folder / "none")), nullptr);
  EXPECT_EQ(open_object(Place::parse(folder.path())), nullptr);
}

TEST(OpenStore, OfAStoreWithoutFilesOneIsReadAndPut) {
  const TestFolder folder;
  Wrapped store(open_store(Place::parse(folder.path())));
  std::string written;
  store.put_file("a/k", 5, [&](const std::string& path) {
    EXPECT_TRUE(fs::is_empty(path));
    write(path, "hello");
    written = path;
  });
  EXPECT_EQ(store.get_text("a/k"), "hello");
  EXPECT_FALSE(fs::exists(written));
  error_of(ErrorCode::corrupt, [&] {
    store.put_file("a/k", 5, [&](const std::string& path) {
      write(path, "half");
      written = path;
      fail(ErrorCode::corrupt, "the writer gave up");
    });
  });
  EXPECT_FALSE(fs::exists(written));
  EXPECT_EQ(store.get_text("a/k"), "hello");
  EXPECT_EQ(store.remove_leftovers(), 0U);
  store.sync();
}

}  // namespace
}  // namespace headrace::storage
