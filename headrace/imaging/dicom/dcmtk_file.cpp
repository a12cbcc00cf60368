#include "headrace/imaging/dicom/dcmtk_file.hpp"

#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/imaging/dicom/character_sets.hpp"
#include "headrace/imaging/dicom/dicom_dictionary.hpp"
#include "headrace/imaging/dicom/dicom_stream.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

/// What DCMTK finds by itself (DCMDICTPATH, the system's) goes first.
bool load_dictionary() {
  if (dcmDataDict.isDictionaryLoaded()) return true;
  for (const auto& file : suggested_dicom_dictionary()) {
    dcmDataDict.wrlock().loadDictionary(file.c_str());
    dcmDataDict.wrunlock();
  }
  return dcmDataDict.isDictionaryLoaded();
}

void start_dcmtk() {
  static std::once_flag once;
  std::call_once(once, [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);  // the library never prints
    DJDecoderRegistration::registerCodecs();
    DJLSDecoderRegistration::registerCodecs();
    DcmRLEDecoderRegistration::registerCodecs();
    if (!load_dictionary()) {
      fail(ErrorCode::unsupported,
           "DCMTK finds no data dictionary. Install libdcmtk17, or name the file dicom.dic in "
           "DCMDICTPATH.");
    }
  });
}

/// The number that a text is as a whole, apart from padding; nothing where it begins with none.
/// whole: set to whether the number is all of it.
std::optional<double> parse_number(std::string_view text, bool& whole) {
  const auto padding = [](char c) { return c == ' ' || c == '\0'; };
  while (!text.empty() && padding(text.back())) text.remove_suffix(1);
  while (!text.empty() && padding(text.front())) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  whole = end == text.data() + text.size();
  return error == std::errc() ? std::optional<double>(number) : std::nullopt;
}

/// A number that says nothing must not be taken for one that is absent, which has a meaning of its
/// own for most elements.
double finite(double number, const DcmTagKey& tag) {
  if (std::isfinite(number)) return number;
  fail(ErrorCode::malformed, "{} is {}, expected a finite number. Correct the header.",
       DcmTag(tag).getTagName(), number);
}

/// What DCMTK does not give is not there, unless reading it failed: values are read when they are asked
/// for.
std::nullopt_t absent() {
  rethrow_read_failure();
  return std::nullopt;
}

/// A value of DS or IS. DCMTK takes what a text begins with: 1 of "1,9".
std::optional<double> written_number(DcmElement& element, const DcmTagKey& tag,
                                     unsigned long index) {
  OFString value;
  const bool there = element.getOFString(value, index).good();
  rethrow_read_failure();  // of a value that can't be read it says good, and empty
  if (!there) return std::nullopt;
  bool whole = true;
  const auto number = parse_number({value.c_str(), value.length()}, whole);
  if (number && !whole) {
    fail(ErrorCode::malformed,
         "{} is \"{}\", expected a number with a decimal point. Correct the header.",
         DcmTag(tag).getTagName(), shown_text(std::string(value.c_str()).substr(0, 20)));
  }
  return number ? std::optional<double>(finite(*number, tag)) : std::nullopt;
}

}  // namespace

void check(const OFCondition& condition, const std::string& path, const char* doing) {
  if (condition.good()) return;
  rethrow_read_failure();
  fail(ErrorCode::corrupt,
       "{}: {} can't be read from this DICOM file ({}). It may be truncated or damaged.", path,
       doing, condition.text());
}

std::unique_ptr<DcmFileFormat> load_dicom(const std::string& path, bool with_pixels) {
  start_dcmtk();
  auto file = std::make_unique<DcmFileFormat>();
  DicomStream stream(storage::open_input(path));
  forget_read_failure();
  file->transferInit();
  const OFCondition condition = with_pixels ? file->read(stream)
                                            : file->readUntilTag(stream, EXS_Unknown, EGL_noChange,
                                                                 DCM_MaxReadLength, DCM_PixelData);
  file->transferEnd();
  check(condition, path, "the header");
  return file;
}

std::string text_of(DcmItem& item, const DcmTagKey& tag) {
  OFString value;
  const bool there = item.findAndGetOFStringArray(tag, value).good();
  rethrow_read_failure();
  if (!there) return {};
  std::string text(value.c_str(), value.length());
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.pop_back();
  while (!text.empty() && text.front() == ' ') text.erase(text.begin());
  return text;
}

std::string utf8_text_of(DcmItem& item, const DcmTagKey& tag) {
  std::string stated;
  for (DcmItem* at = &item; at != nullptr && stated.empty(); at = at->getParentItem())
    stated = text_of(*at, DCM_SpecificCharacterSet);
  return text_in_utf8(text_of(item, tag), stated);
}

std::optional<double> number_of(DcmItem& item, const DcmTagKey& tag, unsigned long index) {
  DcmElement* element = nullptr;
  if (item.findAndGetElement(tag, element).bad() || element == nullptr) return absent();
  if (element->ident() == EVR_DS || element->ident() == EVR_IS)
    return written_number(*element, tag, index);
  Float64 f64 = 0;
  if (element->getFloat64(f64, index).good()) return finite(f64, tag);
  Float32 f32 = 0;
  if (element->getFloat32(f32, index).good()) return finite(f32, tag);
  Uint16 u16 = 0;
  if (element->getUint16(u16, index).good()) return u16;
  Sint16 s16 = 0;
  if (element->getSint16(s16, index).good()) return s16;
  Uint32 u32 = 0;
  if (element->getUint32(u32, index).good()) return u32;
  Sint32 s32 = 0;
  if (element->getSint32(s32, index).good()) return s32;
  return absent();
}

std::optional<double> private_number_of(DcmItem& item, std::uint16_t group,
                                        const std::string& creator, std::uint8_t element) {
  for (std::uint16_t block = 0x10; block <= 0xff; ++block) {
    if (text_of(item, DcmTagKey(group, block)) != creator) continue;
    const DcmTagKey tag(group, static_cast<std::uint16_t>(block << 8 | element));
    if (const auto number = number_of(item, tag)) return number;
    const Uint8* bytes = nullptr;  // without a value representation it is bytes
    unsigned long count = 0;
    if (item.findAndGetUint8Array(tag, bytes, &count).bad() || bytes == nullptr) {
      rethrow_read_failure();
      continue;
    }
    const std::string text(reinterpret_cast<const char*>(bytes), count);
    bool whole = true;
    if (const auto number = parse_number(text, whole); number && whole) return number;
  }
  return std::nullopt;
}

std::optional<std::vector<double>> numbers_of(DcmItem& item, const DcmTagKey& tag,
                                              unsigned long count) {
  std::vector<double> out;
  for (unsigned long i = 0; i < count; ++i) {
    const auto value = number_of(item, tag, i);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

DcmItem* item_of(DcmItem& item, const DcmTagKey& sequence, long index) {
  DcmItem* found = nullptr;
  if (item.findAndGetSequenceItem(sequence, found, index).bad()) return nullptr;
  return found;
}

long items_of(DcmItem& item, const DcmTagKey& sequence) {
  DcmSequenceOfItems* found = nullptr;
  if (item.findAndGetSequence(sequence, found).bad() || found == nullptr) return 0;
  return static_cast<long>(found->card());
}

}  // namespace headrace::imaging
