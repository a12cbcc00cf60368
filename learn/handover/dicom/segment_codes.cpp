#include "learn/handover/dicom/segment_codes.hpp"

#include <array>

#include "headrace/core/text.hpp"

namespace headrace::handover {
namespace {

enum class Category { anatomy, tissue, abnormal };

struct Entry {
  std::string_view name;  ///< folded, in the singular
  Category category;
  std::string_view code, meaning;
};

constexpr std::array kEntries{
    Entry{"adrenalgland", Category::anatomy, "23451007", "Adrenal gland"},
    Entry{"aorta", Category::anatomy, "15825003", "Aorta"},
    Entry{"bladder", Category::anatomy, "89837001", "Bladder"},
    Entry{"brain", Category::anatomy, "12738006", "Brain"},
    Entry{"colon", Category::anatomy, "71854001", "Colon"},
    Entry{"duodenum", Category::anatomy, "38848004", "Duodenum"},
    Entry{"esophagus", Category::anatomy, "32849002", "Esophagus"},
    Entry{"femur", Category::anatomy, "71341001", "Femur"},
    Entry{"gallbladder", Category::anatomy, "28231008", "Gallbladder"},
    Entry{"heart", Category::anatomy, "80891009", "Heart"},
    Entry{"inferiorvenacava", Category::anatomy, "64131007", "Inferior vena cava"},
    Entry{"kidney", Category::anatomy, "64033007", "Kidney"},
    Entry{"liver", Category::anatomy, "10200004", "Liver"},
    Entry{"lung", Category::anatomy, "39607008", "Lung"},
    Entry{"oesophagus", Category::anatomy, "32849002", "Esophagus"},
    Entry{"pancreas", Category::anatomy, "15776009", "Pancreas"},
    Entry{"portalvein", Category::anatomy, "32764006", "Portal vein"},
    Entry{"prostate", Category::anatomy, "41216001", "Prostate"},
    Entry{"rectum", Category::anatomy, "34402009", "Rectum"},
    Entry{"rib", Category::anatomy, "113197003", "Rib"},
    Entry{"smallbowel", Category::anatomy, "30315005", "Small intestine"},
    Entry{"smallintestine", Category::anatomy, "30315005", "Small intestine"},
    Entry{"spinalcord", Category::anatomy, "2748008", "Spinal cord"},
    Entry{"spleen", Category::anatomy, "78961009", "Spleen"},
    Entry{"sternum", Category::anatomy, "56873002", "Sternum"},
    Entry{"stomach", Category::anatomy, "69695003", "Stomach"},
    Entry{"thyroid", Category::anatomy, "69748006", "Thyroid"},
    Entry{"thyroidgland", Category::anatomy, "69748006", "Thyroid"},
    Entry{"trachea", Category::anatomy, "44567001", "Trachea"},
    Entry{"urinarybladder", Category::anatomy, "89837001", "Bladder"},
    Entry{"uterus", Category::anatomy, "35039007", "Uterus"},
    Entry{"vertebra", Category::anatomy, "51282000", "Vertebra"},
    Entry{"vertebrae", Category::anatomy, "51282000", "Vertebra"},
    Entry{"backmuscle", Category::tissue, "91727004", "Muscle"},
    Entry{"bone", Category::tissue, "3138006", "Bone"},
    Entry{"fat", Category::tissue, "55603005", "Fat"},
    Entry{"lymphnode", Category::tissue, "59441001", "Lymph Node"},
    Entry{"muscle", Category::tissue, "91727004", "Muscle"},
    Entry{"skin", Category::tissue, "39937001", "Skin"},
    Entry{"cancer", Category::abnormal, "108369006", "Neoplasm"},
    Entry{"cyst", Category::abnormal, "367643001", "Cyst"},
    Entry{"gtv", Category::abnormal, "108369006", "Neoplasm"},
    Entry{"hemorrhage", Category::abnormal, "50960005", "Hemorrhage"},
    Entry{"lesion", Category::abnormal, "52988006", "Lesion"},
    Entry{"metastases", Category::abnormal, "14799000", "Neoplasm, Secondary"},
    Entry{"metastasis", Category::abnormal, "14799000", "Neoplasm, Secondary"},
    Entry{"neoplasm", Category::abnormal, "108369006", "Neoplasm"},
    Entry{"nodule", Category::abnormal, "27925004", "Nodule"},
    // SNOMED CT's general code of a polyp is in none of DICOM's lists; polyps are found in colons.
    Entry{"polyp", Category::abnormal, "68496003", "Polyp of colon"},
    Entry{"tumor", Category::abnormal, "108369006", "Neoplasm"},
    Entry{"tumour", Category::abnormal, "108369006", "Neoplasm"},
};

CodedConcept concept_of(Category category) {
  switch (category) {
    case Category::anatomy:
      return {"91723000", "SCT", "Anatomical Structure"};
    case Category::abnormal:
      return {"49755003", "SCT", "Morphologically Abnormal Structure"};
    case Category::tissue:
      break;
  }
  return {"85756007", "SCT", "Tissue"};
}

const Entry* entry_of(std::string_view name) {
  if (name.ends_with('s')) {
    if (const Entry* singular = entry_of(name.substr(0, name.size() - 1))) return singular;
  }
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

/// Removes "left" or "right" from either end of a folded name.
std::optional<CodedConcept> take_side(std::string& name) {
  const std::array<std::pair<std::string_view, CodedConcept>, 2> sides{
      {{"left", {"7771000", "SCT", "Left"}}, {"right", {"24028007", "SCT", "Right"}}}};
  for (const auto& [word, side] : sides) {
    if (name.starts_with(word)) {
      name.erase(0, word.size());
      return side;
    }
    if (name.ends_with(word)) {
      name.resize(name.size() - word.size());
      return side;
    }
  }
  return std::nullopt;
}

}  // namespace

SegmentCodes segment_codes(std::string_view class_name) {
  std::string name = folded_name(class_name);
  const auto side = take_side(name);
  const Entry* entry = entry_of(name);
  if (entry == nullptr) {
    const CodedConcept tissue = concept_of(Category::tissue);
    return {tissue, tissue, std::nullopt};
  }
  return {concept_of(entry->category),
          {std::string(entry->code), "SCT", std::string(entry->meaning)},
          side};
}

bool is_anatomy(const SegmentCodes& codes) {
  return codes.category == concept_of(Category::anatomy);
}

}  // namespace headrace::handover
