#!/usr/bin/env bash
# From real slides and CT to trained, evaluated and reported models: everything lands in demo-out/ (DEMO_OUT names another folder).
# What is real comes first; phantoms then show the path at more scanners and labels than the samples have, never a model's worth.
#   a  every real slide of samples/ into one store; checked; what a model would see of it as a picture
#   b  organs on real CT: one patient's DICOM to learn from, another's NIfTI in another voxel order to be judged by
#   c  nuclei on real stained tissue with real annotations: ingest, train, evaluate, report
#   d  path test: Gleason grading on a phantom cohort of two scanners, with and without stain normalisation
#   e  path test: colorectal lesions on phantom CT, several contrast phases, two scanners
#   f  the trained runs on files that were never ingested, and what QuPath, 3D Slicer and a PACS get of it
#   g  the first steps of each training again from its folder: the same bytes
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${DEMO_OUT:-$root/demo-out}
program=${HEADRACE:-$root/build/headrace}
configs=${DEMO_CONFIGS:-$root/samples/configs}
slides=${DEMO_PHANTOMS:-24} # of the phantom cohort
edge=${DEMO_PHANTOM_EDGE:-2048}
patients=${DEMO_PATIENTS:-12} # of the phantom CT cohort
ingest_only=${DEMO_INGEST_ONLY:-} # set: stores and pictures, no training

rm -rf "$out"
mkdir -p "$out"
cd "$out" # the configs name their stores relative to here

say() { printf '\n== %s\n' "$*" >&2; }
# timed NAME COMMAND…: runs it, keeps its standard output as NAME.json and its seconds (wall, user, system) as NAME.time
timed() {
  local name=$1 TIMEFORMAT='%R %U %S'
  shift
  { time "$@" >"$name.json" 2>&3; } 3>&2 2>"$name.time"
}
# learn RUN COUNT: what its config lets a model see, as a picture of COUNT patches; then trains, evaluates and reports
learn() {
  "$program" sample --config "$configs/$1.yaml" --count "$2" --out "$1.png"
  if [ -n "$ingest_only" ]; then return; fi
  timed "$1.train" "$program" train --config "$configs/$1.yaml" --out "$1" --json
  timed "$1.eval" "$program" eval --run "$1" --json
  "$program" report "$1" >/dev/null
}

say "a. real slides: $(find "$root/samples/slides" -type f | wc -l) files, every format"
timed slides.ingest "$program" ingest slides "$root/samples/slides" --out slides.zarr --json
timed slides.verify "$program" verify slides.zarr --json
timed slides.info "$program" info slides.zarr --json
"$program" sample --config "$configs/slides.yaml" --count 24 --out slides.png

say "b. organs on real CT: DICOM to learn from, NIfTI to be judged by"
organs=$root/samples/ct/organs
timed organs.ingest "$program" ingest volumes "$organs" --table "$organs/cases.csv" --classes background,liver,spleen,back_muscles --out organs.zarr --json
timed organs.verify "$program" verify organs.zarr --json
timed organs.info "$program" info organs.zarr --json
learn organs 8

say "c. nuclei on stained tissue: real images, real annotations"
timed nuclei.ingest "$program" ingest slides "$root/samples/nuclei/images" --table "$root/samples/nuclei/cases.csv" \
  --classes background,nucleus --out nuclei.zarr --json
timed nuclei.verify "$program" verify nuclei.zarr --json
timed nuclei.info "$program" info nuclei.zarr --json
learn nuclei 16

say "d. path test, Gleason grading on phantoms: $slides synthetic slides of $edge×$edge pixels, two scanners"
timed phantoms.make "$program" phantom slides --out phantoms --count "$slides" --size "$edge" --scanners 2 --seed 11
timed phantoms.ingest "$program" ingest slides phantoms/slides --table phantoms/cases.csv --classes "$(paste -sd, phantoms/classes.txt)" --out phantoms.zarr --json
timed phantoms.verify "$program" verify phantoms.zarr --json
timed phantoms.info "$program" info phantoms.zarr --json
learn gleason 16
learn gleason-normalized 16

say "e. path test, colorectal lesions on phantom CT: $patients synthetic patients in two phases, two scanners"
timed colorectal.make "$program" phantom volumes --out bodies --count "$patients" --size 128 --phases 2 --scanners 2 --lesion-mm 20,50 --seed 31 --json
timed colorectal.ingest "$program" ingest volumes bodies/images --table bodies/cases.csv --classes "$(paste -sd, bodies/classes.txt)" \
  --lesion-classes lesion --out colorectal.zarr --json
timed colorectal.verify "$program" verify colorectal.zarr --json
timed colorectal.info "$program" info colorectal.zarr --json
learn colorectal 8

# predicted NAME RUN FORMATS INPUT…: the run's predictions of the inputs as predictions/NAME, exported
predicted() {
  local name=$1 run=$2 formats=$3
  shift 3
  timed "$name.predict" "$program" predict --run "$run" "$@" --out "predictions/$name" --json
  timed "$name.export" "$program" export "predictions/$name" --as "$formats" --json
}
if [ -z "$ingest_only" ]; then
  say "f. predictions of files: class maps, findings, and files for QuPath, 3D Slicer and PACS"
  predicted organs-nifti organs nifti,nrrd "$root/samples/ct/totalseg-abdomen/ct.nii.gz"
  predicted organs-dicom organs dicom-seg,dicom-rtstruct,nrrd "$organs/trunk"
  predicted gleason gleason geojson,ome-tiff,csv phantoms/slides/phantom-0001.tif
  predicted lesions colorectal nifti,csv bodies/images/phantom-0001-arterial.nii.gz
  say "g. each run again from its folder: the first ten steps, byte for byte"
  for run in organs nuclei gleason gleason-normalized colorectal; do timed "$run.replay" "$program" replay "$run" --json; done
  python3 "$root/tools/demo_summary.py" "$out"
fi
