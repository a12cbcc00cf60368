#include "learn/view/viewer.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "headrace/core/error.hpp"
#include "learn/view/http/whole_number.hpp"
#include "learn/view/review/review_json.hpp"
#include "learn/view/review/save_labels.hpp"

namespace headrace::view {

std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

void Viewer::add_reviews() {
  using Request = const HttpRequest&;
  using Args = const Arguments&;
  router_.add(HttpMethod::get, "api/items/*/findings",
              [this](Request, Args a) { return json_response(findings(*item_of(a[0]))); });
  router_.add(HttpMethod::put, "api/items/*/findings/*/*/verdict",
              [this](Request request, Args a) { return put_verdict(request, a); });
  router_.add(HttpMethod::remove, "api/items/*/findings/*/*/verdict",
              [this](Request, Args a) { return remove_verdict(a); });
  router_.add(HttpMethod::post, "api/items/*/labels",
              [this](Request, Args a) { return save(*item_of(a[0])); });
}

ReviewFile& Viewer::reviews_of(const ShownItem& item) const {
  const Reviewed& reviewed = reviewed_[item.number];
  if (!reviewed.reviews) fail(ErrorCode::usage, "{}: has no prediction to review", item.item.id);
  return *reviewed.reviews;
}

Json Viewer::findings(const ShownItem& item) const {
  const Reviewed& reviewed = reviewed_[item.number];
  const auto verdicts = reviewed.reviews ? reviewed.reviews->read().verdicts : Review::Verdicts{};
  Json all = Json::array();
  for (const Finding& finding : reviewed.findings) {
    all.push_back(finding.json);
    const auto found = verdicts.find(finding.number);
    all.back()["verdict"] = found == verdicts.end() ? Json() : found->second.to_json();
  }
  return {{"findings", all}};
}

const Finding& Viewer::finding_of(const ShownItem& item, const Arguments& arguments) const {
  const auto list = value_named<FindingList>(arguments[1]);
  const auto number = whole_number(arguments[2]);
  if (!list || !number) nothing_there();
  const auto& all = reviewed_[item.number].findings;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& finding) {
    return finding.list == *list && finding.number == static_cast<std::uint64_t>(*number);
  });
  if (found == all.end()) nothing_there();
  return *found;
}

HttpResponse Viewer::put_verdict(const HttpRequest& request, const Arguments& arguments) {
  const Item item = item_of(arguments[0]);
  const Finding& finding = finding_of(*item, arguments);
  Verdict verdict = Verdict::from_json(sent_json(request.body), item->item.result->facts().classes);
  if (!verdict.outline.empty() && item->item.kind == ItemKind::volume)
    fail(ErrorCode::usage, "outline: is for regions of slides");
  verdict.reviewer = options_.reviewer;
  verdict.time = now_utc();
  reviews_of(*item).change(finding.number, verdict);
  return json_response(verdict.to_json());
}

HttpResponse Viewer::remove_verdict(const Arguments& arguments) {
  const Item item = item_of(arguments[0]);
  reviews_of(*item).change(finding_of(*item, arguments).number, std::nullopt);
  return json_response({{"verdict", Json()}});
}

HttpResponse Viewer::save(const ShownItem& item) {
  const ReviewFile& reviews = reviews_of(item);
  const std::lock_guard lock(saving_);
  const SavedLabels saved = save_labels(*item.item.result, reviewed_[item.number].findings, reviews,
                                        store_, review_set(options_.reviewer));
  items_.reopen(store_, item.number);
  return json_response({{"set", saved.set},
                        {"pixels", saved.pixels},
                        {"file", saved.file},
                        {"store", store_},
                        {"dataset_hash", saved.dataset_hash}});
}

}  // namespace headrace::view
