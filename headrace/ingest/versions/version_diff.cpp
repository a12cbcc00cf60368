#include "headrace/ingest/versions/version_diff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/ignore_label.hpp"
#include "headrace/ingest/store/manifest.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::ingest {
namespace {

using cohort::StoreHead;
using cohort::StoreVersion;
using cohort::VersionImage;
using cohort::VersionLabel;

using Moves = std::array<std::uint64_t, 65536>;  // by value before · 256 + value after

/// The box of level 0 that each shard covers, and its key.
class Shards {
 public:
  explicit Shards(const zarr::Array& array)
      : shape_(array.metadata().shape), edges_(array.metadata().chunk_shape) {
    std::int64_t count = 1;
    for (std::size_t a = 0; a < shape_.size(); ++a) {
      counts_.push_back((shape_[a] + edges_[a] - 1) / edges_[a]);
      count *= counts_.back();
    }
    count_ = static_cast<std::size_t>(count);
  }
  std::size_t count() const { return count_; }

  zarr::RegionRead region(std::size_t shard, std::vector<std::uint8_t>& into) const {
    zarr::RegionRead region;
    std::int64_t size = 1;
    for (const std::int64_t at : place(shard)) {
      const std::size_t a = region.origin.size();
      region.origin.push_back(at * edges_[a]);
      region.shape.push_back(std::min(edges_[a], shape_[a] - region.origin[a]));
      size *= region.shape[a];
    }
    into.resize(static_cast<std::size_t>(size));
    region.dst = reinterpret_cast<std::byte*>(into.data());
    region.strides_bytes.assign(shape_.size(), 1);
    for (std::size_t a = shape_.size() - 1; a-- > 0;)
      region.strides_bytes[a] = region.strides_bytes[a + 1] * region.shape[a + 1];
    return region;
  }
  /// "/0/c/3/7": below the group.
  std::string key(std::size_t shard) const {
    return fmt::format("/0/c/{}", fmt::join(place(shard), "/"));
  }

 private:
  std::vector<std::int64_t> place(std::size_t shard) const {
    std::vector<std::int64_t> at(shape_.size());
    auto rest = static_cast<std::int64_t>(shard);
    for (std::size_t a = shape_.size(); a-- > 0; rest /= counts_[a]) at[a] = rest % counts_[a];
    return at;
  }
  std::vector<std::int64_t> shape_, edges_, counts_;
  std::size_t count_ = 0;
};

struct Side {
  std::string folder;
  std::shared_ptr<const zarr::Array> array;
  ObjectList objects;
};

class Differ {
 public:
  Differ(const std::shared_ptr<const storage::Store>& store, ThreadPool& pool)
      : store_(store), pool_(pool) {}

  VersionDiff run(const std::string& before, const std::string& after) {
    const StoreVersion a = StoreVersion::load(*store_, before),
                       b = StoreVersion::load(*store_, after);
    diff_.before = before;
    diff_.after = after;
    diff_.classes_before = a.classes;
    diff_.classes_after = b.classes;
    Json facts = a.facts;
    facts.update(b.facts);
    for (const auto& [fact, ignored] : facts.items()) {
      const Json old = a.facts.value(fact, Json()), now = b.facts.value(fact, Json());
      if (old != now && fact != "class_sets") diff_.facts.push_back({fact, old, now});
    }
    diff_.sets_before = a.class_sets();
    diff_.sets_after = b.class_sets();
    for (const auto& [id, image] : a.images) {
      if (!b.images.contains(id)) diff_.images_removed.push_back(id);
    }
    for (const auto& [id, image] : b.images) {
      const auto old = a.images.find(id);
      if (old == a.images.end()) {
        diff_.images_added.push_back(id);
        continue;
      }
      if (!(old->second.pixels == image.pixels)) diff_.pixels_changed.push_back(id);
      compare_columns(id, old->second, image);
      compare_labels(id, old->second, image);
    }
    return std::move(diff_);
  }

 private:
  /// Free columns beside the others.
  static Json flat(Json columns) {
    const Json free = columns.value("free", Json::object());
    columns.erase("free");
    columns.update(free);
    return columns;
  }

  void compare_columns(const std::string& id, const VersionImage& before,
                       const VersionImage& after) {
    const Json columns_before = flat(before.columns), columns_after = flat(after.columns);
    Json all = columns_before;
    all.update(columns_after);
    for (const auto& [column, ignored] : all.items()) {
      const Json old = columns_before.value(column, Json()),
                 now = columns_after.value(column, Json());
      if (old != now) diff_.columns.push_back({id, column, old, now});
    }
  }

  void compare_labels(const std::string& id, const VersionImage& before,
                      const VersionImage& after) {
    std::map<std::string, std::array<const VersionLabel*, 2>> sets;
    for (const auto& [set, label] : before.labels) sets[set][0] = &label;
    for (const auto& [set, label] : after.labels) sets[set][1] = &label;
    for (const auto& [set, both] : sets) {
      if (both[0] != nullptr && both[1] != nullptr && both[0]->group == both[1]->group) continue;
      LabelChange change;
      change.image = id;
      change.set = set;
      change.kind = both[0] == nullptr ? "added" : both[1] == nullptr ? "withdrawn" : "replaced";
      count_moves(open(id, both[0]), open(id, both[1]), change);
      diff_.labels.push_back(std::move(change));
    }
  }

  Side open(const std::string& id, const VersionLabel* label) const {
    if (label == nullptr) return {};
    Side side;
    side.folder = fmt::format("images/{}/labels/{}", id, label->group);
    side.array = zarr::Array::open(store_, side.folder + "/0");
    side.objects = load_part(*store_, id, label->group, label->part);
    return side;
  }

  void count_moves(const Side& before, const Side& after, LabelChange& change) const {
    const Shards shards(before.array ? *before.array : *after.array);
    std::vector<std::map<std::uint16_t, std::uint64_t>> parts(shards.count());
    pool_.parallel_for(shards.count(), [&](std::size_t i) {
      const std::string key = shards.key(i);
      const auto digest = [&](const Side& side) {
        const auto found = side.objects.find(side.folder + key);
        return found == side.objects.end() ? std::string() : found->second.sha256;
      };
      if (before.array && after.array && digest(before) == digest(after)) return;
      std::vector<std::uint8_t> old, now;
      if (before.array) before.array->read(shards.region(i, old));
      if (after.array) after.array->read(shards.region(i, now));
      // An empty value means "not annotated".
      old.resize(std::max(old.size(), now.size()), kIgnoreLabel);
      now.resize(old.size(), kIgnoreLabel);
      auto counts = std::make_unique<Moves>();
      for (std::size_t p = 0; p < old.size(); ++p) ++(*counts)[old[p] * 256U + now[p]];
      for (std::size_t m = 0; m < counts->size(); ++m) {
        if ((*counts)[m] > 0 && m / 256 != m % 256)
          parts[i][static_cast<std::uint16_t>(m)] = (*counts)[m];
      }
    });
    for (const auto& part : parts) {
      for (const auto& [move, count] : part) {
        change.moved[{static_cast<std::uint8_t>(move / 256),
                      static_cast<std::uint8_t>(move % 256)}] += count;
      }
    }
  }

  const std::shared_ptr<const storage::Store>& store_;
  ThreadPool& pool_;
  VersionDiff diff_;
};

/// names: of classes, then of sets.
std::string label_name(const std::vector<std::string>& names, std::uint8_t value) {
  if (value == kIgnoreLabel) return "not annotated";
  return value < names.size() ? names[value] : fmt::format("value {}", value);
}

/// "pattern3, pattern4 or pattern5"; empty where there is no set of that name.
std::string meaning(const Json& sets, const std::string& name) {
  if (!sets.contains(name)) return "";
  const auto classes = sets.at(name).get<std::vector<std::string>>();
  return fmt::format("{} or {}", fmt::join(classes.begin(), classes.end() - 1, ", "),
                     classes.back());
}

void say_sets(const Json& before, const Json& after, std::vector<std::string>& lines) {
  Json all = before;
  all.update(after);
  for (const auto& [name, classes] : all.items()) {
    const std::string old = meaning(before, name), now = meaning(after, name);
    if (old == now) continue;
    lines.push_back(old.empty()   ? fmt::format("set {} ({}): added", name, now)
                    : now.empty() ? fmt::format("set {} ({}): gone", name, old)
                                  : fmt::format("set {} ({}): now {}", name, old, now));
  }
}

std::string shown(const Json& value) {
  if (value.is_null()) return "unknown";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// 1234567 → "1,234,567".
std::string grouped(std::uint64_t count) {
  std::string text = fmt::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

std::uint64_t LabelChange::changed() const {
  std::uint64_t sum = 0;
  for (const auto& [move, count] : moved) sum += count;
  return sum;
}

bool VersionDiff::same() const { return before == after; }

VersionDiff diff_versions(const std::shared_ptr<const storage::Store>& store,
                          const std::string& before, const std::string& after, ThreadPool& pool) {
  const StoreHead head = StoreHead::load(*store);
  const std::string origin = store->describe("");
  return Differ(store, pool).run(head.find(before, origin), head.find(after, origin));
}

Json to_json(const VersionDiff& diff) {
  Json labels = Json::array(), columns = Json::array();
  const auto old = label_names(diff.classes_before, diff.sets_before),
             now = label_names(diff.classes_after, diff.sets_after);
  for (const auto& change : diff.labels) {
    Json moved = Json::array();
    for (const auto& [move, count] : change.moved) {
      moved.push_back({{"before", label_name(old, move.first)},
                       {"after", label_name(now, move.second)},
                       {"count", count}});
    }
    labels.push_back({{"image", change.image},
                      {"set", change.set},
                      {"change", change.kind},
                      {"changed", change.changed()},
                      {"moved", moved}});
  }
  for (const auto& change : diff.columns) {
    columns.push_back({{"image", change.image},
                       {"column", change.column},
                       {"before", change.before},
                       {"after", change.after}});
  }
  Json facts = Json::array();
  for (const auto& change : diff.facts)
    facts.push_back({{"fact", change.name}, {"before", change.before}, {"after", change.after}});
  return {{"before", diff.before},
          {"after", diff.after},
          {"facts", facts},
          {"images_added", diff.images_added},
          {"images_removed", diff.images_removed},
          {"pixels_changed", diff.pixels_changed},
          {"classes_before", diff.classes_before},
          {"classes_after", diff.classes_after},
          {"sets_before", headrace::to_json(diff.sets_before, diff.classes_before)},
          {"sets_after", headrace::to_json(diff.sets_after, diff.classes_after)},
          {"labels", labels},
          {"columns", columns}};
}

std::vector<std::string> in_words(const VersionDiff& diff, const std::string& kind) {
  std::vector<std::string> lines;
  const auto say = [&](std::string line) { lines.push_back(std::move(line)); };
  const char* unit = kind == "volume" ? "voxels" : "pixels";
  if (diff.same()) say("the same version");
  for (std::size_t v = 0; v < std::max(diff.classes_before.size(), diff.classes_after.size());
       ++v) {
    const auto name = [&](const auto& classes) { return v < classes.size() ? classes[v] : ""; };
    const std::string old = name(diff.classes_before), now = name(diff.classes_after);
    if (old == now) continue;
    say(old.empty()   ? fmt::format("class {} (value {}): added", now, v)
        : now.empty() ? fmt::format("class {} (value {}): gone", old, v)
                      : fmt::format("class {} (value {}): now {}", old, v, now));
  }
  say_sets(headrace::to_json(diff.sets_before, diff.classes_before),
           headrace::to_json(diff.sets_after, diff.classes_after), lines);
  // The facts of slides are statistics, which follow from images and columns.
  for (const auto& change : diff.facts) {
    if (kind == "volume")
      say(fmt::format("{} was {}, is {}", change.name, shown(change.before), shown(change.after)));
  }
  for (const auto& id : diff.images_added) say(fmt::format("image {}: added", id));
  for (const auto& id : diff.images_removed) say(fmt::format("image {}: gone", id));
  for (const auto& id : diff.pixels_changed) say(fmt::format("image {}: other {}", id, unit));
  const auto names_before = label_names(diff.classes_before, diff.sets_before),
             names_after = label_names(diff.classes_after, diff.sets_after);
  for (const auto& change : diff.labels) {
    std::vector<std::string> moves;
    for (const auto& [move, count] : change.moved) {
      moves.push_back(fmt::format("{} from {} to {}", grouped(count),
                                  label_name(names_before, move.first),
                                  label_name(names_after, move.second)));
    }
    say(fmt::format("image {}: labels '{}' {}, {} {} changed{}", change.image, change.set,
                    change.kind, grouped(change.changed()), unit,
                    moves.empty() ? "" : fmt::format(": {}", fmt::join(moves, ", "))));
  }
  for (const auto& change : diff.columns) {
    say(fmt::format("image {}: {} was {}, is {}", change.image, change.column, shown(change.before),
                    shown(change.after)));
  }
  return lines;
}

}  // namespace headrace::ingest
