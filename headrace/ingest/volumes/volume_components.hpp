#pragma once
#include "headrace/imaging/volume/components.hpp"
#include "headrace/ingest/volumes/bit_volume.hpp"

namespace headrace::ingest {

using imaging::Components;
using imaging::fill_run;
using imaging::find_components;
using imaging::Neighbours;
using imaging::Run;

}  // namespace headrace::ingest
