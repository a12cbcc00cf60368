#include "headrace/imaging/dicom/contrast_phase.hpp"

#include <array>
#include <cctype>
#include <string>

namespace headrace::imaging {
namespace {

struct Word {
  const char* text;  ///< " word" is the beginning of a word, " word " a whole one
  ContrastPhase phase;
};

using enum ContrastPhase;
// English, German and French words of scanners' protocols.
constexpr std::array<Word, 41> kWords{{
    {" arterial", arterial},     {" arteriell", arterial},    {" art ", arterial},
    {" arteriel", arterial},     {" artphase", arterial},     {" hap ", arterial},
    {" portal", portal_venous},  {" porto", portal_venous},   {" portven", portal_venous},
    {" pv ", portal_venous},     {" pvp ", portal_venous},    {" venous", portal_venous},
    {" ven ", portal_venous},    {" venos", portal_venous},   {" veneux", portal_venous},
    {" veneuse", portal_venous}, {" pven", portal_venous},    {" hepatic venous", portal_venous},
    {" delay", delayed},         {" late ", delayed},         {" equilibrium", delayed},
    {" excretory", delayed},     {" urographic", delayed},    {" spaet", delayed},
    {" tardif", delayed},        {" tardive", delayed},       {" ddp ", delayed},
    {" native", native},         {" nativ ", native},         {" unenhanced", native},
    {" noncontrast", native},    {" non contrast", native},   {" without contrast", native},
    {" w o contrast", native},   {" wo contrast", native},    {" no contrast", native},
    {" precontrast", native},    {" pre contrast", native},   {" nect ", native},
    {" ohne km", native},        {" sans injection", native},
}};

}  // namespace

ContrastPhase phase_of_description(std::string_view description) {
  std::string text = " ";
  for (const char c : description) {
    const auto u = static_cast<unsigned char>(c);
    const char next = std::isalnum(u) ? static_cast<char>(std::tolower(u)) : ' ';
    if (next != ' ' || text.back() != ' ') text += next;
  }
  if (text.back() != ' ') text += ' ';
  // "Late arterial" is arterial: the word alone means a late phase.
  for (std::size_t at; (at = text.find(" late art")) != std::string::npos;) text.erase(at, 5);
  ContrastPhase found = unknown;
  for (const Word& word : kWords) {
    if (text.find(word.text) == std::string::npos) continue;
    if (found != unknown && found != word.phase) return unknown;  // names several
    found = word.phase;
  }
  return found;
}

}  // namespace headrace::imaging
