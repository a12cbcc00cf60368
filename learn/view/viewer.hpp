#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "learn/view/http/asset_files.hpp"
#include "learn/view/http/router.hpp"
#include "learn/view/open_images.hpp"
#include "learn/view/review/finding_list.hpp"
#include "learn/view/review/review_file.hpp"
#include "learn/view/shown_items.hpp"

namespace headrace::view {

struct ViewInputs;

struct ViewerOptions {
  std::vector<std::string> inputs;  ///< find_view_inputs
  std::string store;                ///< that labels go to; empty: the only store of the inputs
  std::string reviewer;             ///< whose verdicts these are; may be empty
  /// Folder with page/ (the page's files), openseadragon/ and neuroglancer/ (may be missing).
  std::filesystem::path assets;
};

/// Ends a request for something that is not there. Errors: not_found.
[[noreturn]] void nothing_there();
/// The layer that an address names. Errors: not_found.
const ViewLayer& layer_of(const ShownItem& item, const std::string& name);
/// As DICOM and logs state times of reviews: UTC, to the second.
std::string now_utc();

/// What `headrace view` serves: the page, the items, tiles and chunks of their layers, findings and
/// verdicts on them (README.md of this layer). Safe from any thread.
///
/// memory  encoded tiles and chunks 256 MiB, coarse tiles of slides without a pyramid 256 MiB,
///         volumes of files 2 GiB; the least recently used go
class Viewer {
 public:
  /// Errors: those of find_view_inputs; not_found (no page in `assets`).
  explicit Viewer(const ViewerOptions& options);

  std::size_t items() const noexcept { return items_.size(); }
  HttpResponse answer(const HttpRequest& request) const { return router_.answer(request); }

 private:
  using Arguments = Router::Arguments;
  using Item = ShownItems::Pointer;
  struct Reviewed {
    std::vector<Finding> findings;
    std::unique_ptr<ReviewFile> reviews;
  };
  Viewer(const ViewerOptions& options, ViewInputs inputs);

  void add_page();
  void add_images();
  void add_reviews();
  void add_outlines();

  // What an address names. Errors: not_found.
  Item item_of(const std::string& text) const;
  Item item_of(const std::string& text, ItemKind kind) const;
  const Finding& finding_of(const ShownItem& item, const Arguments& arguments) const;

  Json shown_json(const ShownItem& item);
  HttpResponse tile(const Arguments& arguments);
  HttpResponse chunk(const HttpRequest& request, const Arguments& arguments);
  HttpResponse slice(const HttpRequest& request, const Arguments& arguments);
  HttpResponse info(const Arguments& arguments);
  HttpResponse kept(const ShownItem& item, const std::string& key, const char* type,
                    const std::function<std::shared_ptr<const Bytes>()>& make);
  Json item_json(const ShownItem& item) const;
  Json findings(const ShownItem& item) const;
  HttpResponse put_verdict(const HttpRequest& request, const Arguments& arguments);
  HttpResponse remove_verdict(const Arguments& arguments);
  HttpResponse save(const ShownItem& item);
  Json outlines(const ShownItem& item) const;
  HttpResponse put_outlines(const HttpRequest& request, const Arguments& arguments);
  Json contours(const Arguments& arguments);
  /// Errors: usage (an item without a prediction).
  ReviewFile& reviews_of(const ShownItem& item) const;

  const ViewerOptions options_;
  const std::string store_;  ///< that labels go to; empty: none
  ShownItems items_;
  std::vector<Reviewed> reviewed_;  ///< by item
  AssetFiles page_, openseadragon_, neuroglancer_;
  OpenImages images_;
  LruCache<std::string, Bytes> encoded_;
  std::mutex saving_;  ///< one new version of the store at a time
  Router router_;
};

}  // namespace headrace::view
