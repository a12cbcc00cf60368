#include "learn/suggest/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/core/json.hpp"
#include "headrace/storage/atomic_file.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "RESULTS are output folders of headrace predict, all by the same run or runs. An image comes\n"
    "first that is uncertain (entropy of its most uncertain tenth, disagreement of an ensemble,\n"
    "regions on which its grade hangs, lesions near the operating point) and unlike the images\n"
    "that are labelled or above it in the list. Images that have labels in a store are not\n"
    "suggested; images are matched by their ids. To know the labelled ones' likeness, predict\n"
    "them too.\n"
    "\n"
    "Examples:\n"
    "  headrace suggest results --store cohort.zarr --split train --count 20 --out worklist.csv\n"
    "  headrace suggest results-new results-cohort --labelled cohort.zarr";

struct Arguments {
  suggest::SuggestRequest request;
  std::string out;
  bool json = false;
};

std::string shortened(const std::vector<std::string>& ids) {
  constexpr std::size_t kMost = 5;
  const std::span first(ids.data(), std::min(ids.size(), kMost));
  return fmt::format("{}{}", fmt::join(first, ", "), ids.size() > kMost ? ", …" : "");
}

void print_left_out(const std::vector<std::string>& ids, const char* what) {
  if (!ids.empty()) fmt::print("{} {}: {}\n", ids.size(), what, shortened(ids));
}

void print(const suggest::Worklist& list) {
  std::size_t id_width = 5, case_width = 4, look_width = 10;
  for (const auto& line : list.suggestions) {
    id_width = std::max(id_width, line.id.size());
    case_width = std::max(case_width, line.case_id.size());
    look_width = std::max(look_width, line.look_first.size());
  }
  fmt::print("{:>4}  {:<{}}  {:<{}}  {:>11}  {:>8}  {:<{}}  {}\n", "rank", "image", id_width,
             "case", case_width, "uncertainty", "distance", "look first", look_width, "why");
  for (const auto& line : list.suggestions) {
    const std::string distance = line.distance ? fmt::format("{:.3f}", *line.distance) : "-";
    const std::string warnings =
        line.warnings.empty() ? "" : fmt::format("; warning: {}", fmt::join(line.warnings, ", "));
    fmt::print("{:>4}  {:<{}}  {:<{}}  {:>11.3f}  {:>8}  {:<{}}  {}{}\n", line.rank, line.id,
               id_width, line.case_id, case_width, line.uncertainty.total(), distance,
               line.look_first, look_width, line.why, warnings);
  }
  fmt::print("{} of {} images without labels; {} labelled ones were compared with\n",
             list.suggestions.size(), list.candidates, list.labelled);
  if (list.labelled_without_result > 0) {
    fmt::print("{} labelled images have no prediction, so likeness to them is not known\n",
               list.labelled_without_result);
  }
  if (list.of_other_splits > 0)
    fmt::print("{} images without labels are of other splits\n", list.of_other_splits);
  print_left_out(list.not_predicted, "images of the store have neither labels nor a prediction");
  print_left_out(list.not_in_store, "predictions are of images that are not in the store");
  print_left_out(list.empty, "images have nothing predicted in them");
}

void write(const std::string& path, const std::string& text) {
  storage::write_file(path, std::as_bytes(std::span(text)));
}

void run(const Arguments& arguments) {
  const suggest::Worklist list = suggest::suggest(arguments.request);
  if (!arguments.out.empty()) write(arguments.out, list.csv());
  if (arguments.json) {
    fmt::print("{}", dump_json(list.to_json()));
  } else {
    print(list);
  }
}

}  // namespace

void add_suggest(Command app) {
  Command sub =
      app.subcommand("suggest", "Which slides or studies to label next, from their predictions.");
  sub.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  suggest::SuggestRequest& request = arguments->request;
  sub.option("results", request.pool.results, "output folders of headrace predict").required();
  sub.option("--store", request.pool.store, "only images of this store that have no labels there");
  sub.option("--split", request.pool.split, "of the store: only images of this split");
  sub.option("--labelled", request.pool.labelled,
             "another store: its labelled images count as labelled");
  sub.option("--set", request.pool.labels,
             "label sets that tell what is labelled, separated by commas; one will do")
      .separated_by_commas()
      .one_word()
      .shows_default();
  sub.option("--count", request.count, "images to suggest").positive().shows_default();
  sub.choice("--cases", request.cases,
             "each-first: a second image of a case only when every case has one, labelled or "
             "suggested; any: cases do not matter");
  sub.option("--out", arguments->out, "write the list to this file (CSV)");
  sub.option("--threads", request.threads, "threads [default: every core]").not_negative();
  sub.flag("--json", arguments->json, "print one JSON object");
  sub.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
