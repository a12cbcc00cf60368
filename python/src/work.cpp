#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headrace/core/option_choice.hpp"
#include "headrace/imaging/dicom/dicom_dictionary.hpp"
#include "headrace/ingest/ingest_report.hpp"
#include "headrace/ingest/names/identifying_text.hpp"
#include "headrace/ingest/versions/verify_folder.hpp"
#include "headrace/pixels/statistics/choose_statistics.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/network_options.hpp"
#include "learn/process/process_file.hpp"
#include "python/src/bindings.hpp"
#include "python/src/python_calls.hpp"
#include "python/src/work_options.hpp"

namespace headrace::python {
namespace {

/// Slides and volumes alike: `ingest` is ingest_slides or ingest_volumes.
template <typename Request, typename Ingest>
std::string ingest_images(Request& request, const Ingest& ingest) {
  const auto device = pixels::open_statistics(request.device);
  request.options.device = device.get();
  return dump_json(ingest::report_of(ingest(request.options), device ? "cuda" : "cpu"));
}

std::string ingest_slides(const std::string& options, const nb::object& show) {
  SlideIngest request = read_slide_ingest(options);
  return run_work([&] { return ingest_images(request, ingest::ingest_slides); }, show);
}

std::string ingest_volumes(const std::string& options, const nb::object& show) {
  VolumeIngest request = read_volume_ingest(options);
  return run_work([&] { return ingest_images(request, ingest::ingest_volumes); }, show);
}

std::string ingest_labels(const std::string& options, const nb::object& show) {
  const ingest::LabelIngestOptions request = read_label_ingest(options);
  return run_work([&] { return dump_json(ingest::report_of(ingest::ingest_labels(request))); },
                  show);
}

std::string verify(const std::string& options, const nb::object& show) {
  const StoreCheck check = read_store_check(options);
  const auto body = [&] {
    ThreadPool pool(check.jobs);
    return dump_json(ingest::verify_folder(check.store, pool, check.version).report());
  };
  return run_work(body, show);
}

std::string process_image(const std::string& options, const nb::object& show) {
  const process::FileRequest request = read_process(options);
  const auto body = [&] {
    return dump_json(process::report_of(request, process::process_file(request)));
  };
  return run_work(body, show);
}

}  // namespace

// Each takes its options as JSON, and a callable for progress or None; each returns JSON.
void bind_work(nb::module_& module) {
  const auto add = [&module](const char* name, auto* function) {
    module.def(name, function, nb::arg("options"), nb::arg("show").none());
  };
  add("ingest_slides", &ingest_slides);
  add("ingest_volumes", &ingest_volumes);
  add("ingest_labels", &ingest_labels);
  add("verify", &verify);
  add("process", &process_image);
  module.def("name_host_of", &storage::name_host_of, nb::arg("written"));
  module.def(
      "allow_hosts",
      [](const std::vector<std::string>& hosts, const std::string& ca_file) {
        storage::NetworkOptions options = *storage::network();  // all else stays
        options.hosts = hosts;
        options.ca_file = ca_file;
        storage::set_network(options);
      },
      nb::arg("hosts"), nb::arg("ca_file"));
  module.def(
      "use_s3",
      [](const std::string& endpoint, const std::string& region, const std::string& addressing,
         bool anonymous, const std::string& profile) {
        storage::NetworkOptions options = *storage::network();
        options.s3 = {endpoint, region, choice_of<storage::S3Addressing>("addressing", addressing),
                      anonymous, profile};
        storage::set_network(options);
      },
      nb::arg("endpoint"), nb::arg("region"), nb::arg("addressing"), nb::arg("anonymous"),
      nb::arg("profile"));
  module.def(
      "use_cache",
      [](const std::string& folder, double size_gb) {
        storage::use_cache({folder, size_gb});
      },
      nb::arg("folder"), nb::arg("size_gb"));
  module.def("work_option_keys", &work_option_keys);
  module.def("why_identifying",
             [](const std::string& text) { return ingest::why_identifying(text); });
  module.def("suggest_dicom_dictionary", &imaging::suggest_dicom_dictionary, nb::arg("files"));
  log_to_python();
  show_progress_to_python();
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&close_python_calls));
}

}  // namespace headrace::python
