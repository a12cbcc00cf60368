#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "headrace/view/http/asset_files.hpp"
#include "headrace/view/http/router.hpp"
#include "headrace/view/inputs/view_inputs.hpp"
#include "headrace/view/open_images.hpp"
#include "headrace/view/review/finding_list.hpp"
#include "headrace/view/review/review_file.hpp"

namespace headrace::view {

struct ViewerOptions {
  std::vector<std::string> inputs;  ///< find_view_inputs
  std::string store;                ///< that labels go to; empty: the only store of the inputs
  std::string reviewer;             ///< whose verdicts these are; may be empty
  /// Folder with page/ (the page's files) and neuroglancer/ (its built client, may be missing).
  std::filesystem::path assets;
};

/// Ends a request for something that is not there. Errors: not_found.
[[noreturn]] void nothing_there();

/// What `headrace view` serves: the page, the items, tiles and chunks of their layers, findings and
/// verdicts on them (README.md of this layer). Safe from any thread.
///
/// memory  encoded tiles and chunks 256 MiB, coarse tiles of slides without a pyramid 256 MiB,
///         volumes of files 2 GiB; the least recently used go
class Viewer {
 public:
  /// Errors: those of find_view_inputs; not_found (no page in `assets`).
  explicit Viewer(const ViewerOptions& options);

  std::size_t items() const noexcept { return inputs_.items.size(); }
  HttpResponse answer(const HttpRequest& request) const { return router_.answer(request); }

 private:
  using Arguments = Router::Arguments;
  struct Reviewed {
    std::vector<Finding> findings;
    std::unique_ptr<ReviewFile> reviews;
  };

  void add_page();
  void add_images();
  void add_reviews();

  std::size_t item_of(const std::string& text) const;
  const ViewLayer& layer_of(std::size_t item, const std::string& name) const;
  /// Errors: not_found (an item of the other kind).
  std::size_t item_of(const std::string& text, ItemKind kind) const;
  Json item_json(std::size_t item) const;
  Json shown_json(std::size_t item);
  HttpResponse tile(const Arguments& arguments);
  HttpResponse chunk(const HttpRequest& request, const Arguments& arguments);
  HttpResponse info(const Arguments& arguments);
  HttpResponse kept(const std::string& key, const char* type,
                    const std::function<std::shared_ptr<const Bytes>()>& make);
  Json findings(std::size_t item) const;
  const Finding& finding_of(const Arguments& arguments) const;
  HttpResponse put_verdict(const HttpRequest& request, const Arguments& arguments);
  HttpResponse remove_verdict(const Arguments& arguments);
  HttpResponse save(std::size_t item);

  const ViewerOptions options_;
  const ViewInputs inputs_;
  std::vector<std::vector<ViewLayer>> layers_;  ///< by item
  std::vector<Reviewed> reviewed_;              ///< by item
  AssetFiles page_, neuroglancer_;
  OpenImages images_;
  LruCache<std::string, Bytes> encoded_;
  std::mutex saving_;  ///< one new version of the store at a time
  Router router_;
};

}  // namespace headrace::view
