#include <fmt/format.h>

#include "headrace/core/option_name.hpp"
#include "headrace/core/shell_word.hpp"
#include "headrace/core/text.hpp"
#include "learn/report/card_sections.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/summary_section.hpp"

namespace headrace::report {
namespace {

constexpr std::size_t kCommandColumns = 24;  ///< the longest with a comment, but for the run's name

/// Values of nested objects, one row each: "runtime.torch".
void add_rows(Table& table, const std::string& name, const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) add_rows(table, name + " " + key, child);
    return;
  }
  if (value.is_null()) return;
  table.rows.push_back(
      {escaped_markup(name),
       "<code>" + escaped_markup(value.is_string() ? value.get<std::string>() : value.dump()) +
           "</code>"});
}

/// A command that needs what the folder does not have is left out: one that fails helps nobody.
std::string commands(const RunData& data) {
  const std::string run = shell_word(run_name(data));
  const std::string store =
      shell_word(data.config.at("data").value("store", Json("STORE")).get<std::string>());
  std::string text;
  const auto add = [&](const std::string& command, const char* what) {
    text += fmt::format("{:<{}}# {}\n", command, run.size() + kCommandColumns, what);
  };
  if (!data.promoted) {
    add(fmt::format("headrace replay {}", run),
        "trains its first steps again and compares every byte");
  }
  const bool has_weights = data.promoted || !data.summary.is_null();
  if (has_weights) {
    add(fmt::format("headrace eval {} {}", Option{"run"}, run),
        "judges it again, with the same preprocessing");
  }
  add(fmt::format("headrace view {}", run), "its images and their annotation, in a browser");
  const Json examples =
      data.eval.is_object() ? data.eval.value("examples", Json::array()) : Json::array();
  if (has_weights && !examples.empty()) {
    text += fmt::format(
        "# the worst image of this page with its prediction, pixel by pixel:\n"
        "headrace predict {} {} {} {} {} {} seen\nheadrace view {} seen\n",
        Option{"run"}, run, store, Option{"images"},
        shell_word(examples.front().at("image").get<std::string>()), Option{"out"}, store);
  }
  return fmt::format(
      "<p>For the folder that holds this {}. Paths of the machine are not on this page: where the "
      "store lies elsewhere, write its path for <code>{}</code>. <code>headrace view</code> prints "
      "an address that works as long as it runs, on that machine alone, so no link to it can be "
      "kept here.{}</p><pre class=\"commands\">{}</pre>",
      data.promoted ? "model" : "run", escaped_markup(store),
      data.promoted ? " Training is replayed in the run’s own folder, which has its steps." : "",
      escaped_markup(text));
}

}  // namespace

std::string reproduction(const RunData& data) {
  Table table{{"", ""}, {}, {}};
  for (const auto& [key, name] :
       {std::pair{"config_hash", "config hash"}, std::pair{"dataset_hash", "dataset hash"},
        std::pair{"preprocessing_sha256", "preprocessing SHA-256"}})
    add_rows(table, name, data.run.value(key, Json()));
  if (!data.summary.is_null())
    add_rows(table, "weights SHA-256", data.summary.value("weights_sha256", Json()));
  add_rows(table, "seed", data.config.value("sampling", Json::object()).value("seed", Json()));
  for (const auto& [key, name] :
       {std::pair{"code_version", "code version"}, std::pair{"code", "code"},
        std::pair{"runtime", "runtime"}, std::pair{"libraries", "library"},
        std::pair{"hardware", "hardware"}, std::pair{"decoder", "JPEG decoder"}})
    add_rows(table, name, without_paths(data.run.value(key, Json())));
  return section(
      "Reproduce",
      "<p>The same config, dataset, code and runtime give these weights again, bit for bit on a "
      "CPU.</p>" +
          table.html("identity") + "<h3>Commands</h3>" + commands(data) +
          folded("Full config", "<pre>" + escaped_markup(data.config.dump(2)) + "</pre>"));
}

}  // namespace headrace::report
