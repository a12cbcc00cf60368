#include "headrace/view/viewer.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/view/http/whole_number.hpp"
#include "headrace/view/review/save_labels.hpp"

namespace headrace::view {
namespace {

/// As DICOM and logs state times of reviews: UTC, to the second.
std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

void Viewer::add_reviews() {
  using Request = const HttpRequest&;
  using Args = const Arguments&;
  router_.add(HttpMethod::get, "api/items/*/findings",
              [this](Request, Args a) { return json_response(findings(item_of(a[0]))); });
  router_.add(HttpMethod::put, "api/items/*/findings/*/*/verdict",
              [this](Request request, Args a) { return put_verdict(request, a); });
  router_.add(HttpMethod::remove, "api/items/*/findings/*/*/verdict",
              [this](Request, Args a) { return remove_verdict(a); });
  router_.add(HttpMethod::post, "api/items/*/labels",
              [this](Request, Args a) { return save(item_of(a[0])); });
}

Json Viewer::findings(std::size_t item) const {
  const Reviewed& reviewed = reviewed_[item];
  const auto verdicts = reviewed.reviews ? reviewed.reviews->read() : ReviewFile::Verdicts{};
  Json all = Json::array();
  for (const Finding& finding : reviewed.findings) {
    all.push_back(finding.json);
    const auto found = verdicts.find(finding.number);
    all.back()["verdict"] = found == verdicts.end() ? Json() : found->second.to_json();
  }
  return {{"findings", all}};
}

const Finding& Viewer::finding_of(const Arguments& arguments) const {
  const auto list = value_named<FindingList>(arguments[1]);
  const auto number = whole_number(arguments[2]);
  if (!list || !number) nothing_there();
  const auto& all = reviewed_[item_of(arguments[0])].findings;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& finding) {
    return finding.list == *list && finding.number == static_cast<std::uint64_t>(*number);
  });
  if (found == all.end()) nothing_there();
  return *found;
}

HttpResponse Viewer::put_verdict(const HttpRequest& request, const Arguments& arguments) {
  const Finding& finding = finding_of(arguments);
  const std::size_t item = item_of(arguments[0]);
  const auto& classes = inputs_.items[item].result->facts().classes;
  Json body;
  try {
    body = parse_json(request.body, "the request");
  } catch (const Error& error) {
    return error_response(400, error.what());
  }
  Verdict verdict = Verdict::from_json(body, classes);
  if (!verdict.outline.empty() && inputs_.items[item].kind == ItemKind::volume)
    fail(ErrorCode::usage, "outline: is for regions of slides");
  verdict.reviewer = options_.reviewer;
  verdict.time = now_utc();
  reviewed_[item].reviews->change(finding.number, verdict);
  return json_response(verdict.to_json());
}

HttpResponse Viewer::remove_verdict(const Arguments& arguments) {
  const Finding& finding = finding_of(arguments);
  reviewed_[item_of(arguments[0])].reviews->change(finding.number, std::nullopt);
  return json_response({{"verdict", Json()}});
}

HttpResponse Viewer::save(std::size_t item) {
  const Reviewed& reviewed = reviewed_[item];
  if (!reviewed.reviews)
    fail(ErrorCode::usage, "{}: has no prediction to review", inputs_.items[item].id);
  const std::lock_guard lock(saving_);
  const SavedLabels saved =
      save_labels(*inputs_.items[item].result, reviewed.findings, *reviewed.reviews, inputs_.store,
                  review_set(options_.reviewer));
  return json_response({{"set", saved.set},
                        {"pixels", saved.pixels},
                        {"file", saved.file},
                        {"store", inputs_.store},
                        {"dataset_hash", saved.dataset_hash}});
}

}  // namespace headrace::view
