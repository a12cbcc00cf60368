#!/usr/bin/env bash
# From real slides and CT to trained, evaluated and reported models: everything lands in demo-out/ (DEMO_OUT names another folder).
#   a  every real slide of samples/ into one store; checked; what a model would see of it as a picture
#   b  nuclei on real stained tissue with real annotations: ingest, train, evaluate, report
#   c  Gleason grading on a phantom cohort of two scanners, with and without stain normalisation
#   d  tumours on real CT with a physician's contours: DICOM with RTSTRUCT and NIfTI as one cohort, the same steps in three dimensions
#   e  colorectal lesions on phantom CT: several contrast phases, two scanners
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${DEMO_OUT:-$root/demo-out}
program=${HEADRACE:-$root/build/headrace}
configs=${DEMO_CONFIGS:-$root/samples/configs}
slides=${DEMO_PHANTOMS:-24} # of the phantom cohort
edge=${DEMO_PHANTOM_EDGE:-2048}
patients=${DEMO_PATIENTS:-9} # of the phantom CT cohort

rm -rf "$out"
mkdir -p "$out"
cd "$out" # the configs name their stores relative to here

say() { printf '\n== %s\n' "$*" >&2; }
# timed NAME COMMAND…: runs it, keeps its standard output as NAME.json and its wall time as NAME.seconds
timed() {
  local name=$1 start=${EPOCHREALTIME/[.,]/}
  shift
  "$@" >"$name.json"
  echo $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) >"$name.ms"
}

say "a. real slides: $(find "$root/samples/slides" -type f | wc -l) files, every format"
timed slides.ingest "$program" ingest slides "$root/samples/slides" --out slides.zarr --json
timed slides.verify "$program" verify slides.zarr --json
timed slides.info "$program" info slides.zarr --json
"$program" sample --config "$configs/slides.yaml" --count 24 --out slides.png

say "b. nuclei on stained tissue: real images, real annotations"
timed nuclei.ingest "$program" ingest slides "$root/samples/nuclei/images" --table "$root/samples/nuclei/cases.csv" \
  --classes background,nucleus --out nuclei.zarr --json
timed nuclei.verify "$program" verify nuclei.zarr --json
timed nuclei.info "$program" info nuclei.zarr --json
"$program" sample --config "$configs/nuclei.yaml" --count 16 --out nuclei.png
timed nuclei.train "$program" train --config "$configs/nuclei.yaml" --out nuclei --json
timed nuclei.eval "$program" eval --run nuclei --json
"$program" report nuclei >/dev/null

say "c. Gleason grading on phantoms: $slides synthetic slides of $edge×$edge pixels, two scanners"
timed phantoms.make "$program" phantom slides --out phantoms --count "$slides" --size "$edge" --scanners 2 --seed 11
timed phantoms.ingest "$program" ingest slides phantoms/slides --table phantoms/cases.csv --classes "$(paste -sd, phantoms/classes.txt)" --out phantoms.zarr --json
timed phantoms.verify "$program" verify phantoms.zarr --json
timed phantoms.info "$program" info phantoms.zarr --json
for run in gleason gleason-normalized; do
  "$program" sample --config "$configs/$run.yaml" --count 16 --out "$run.png"
  timed "$run.train" "$program" train --config "$configs/$run.yaml" --out "$run" --json
  timed "$run.eval" "$program" eval --run "$run" --json
  "$program" report "$run" >/dev/null
done

say "d. tumours on real CT: eight patients with soft-tissue sarcoma, a physician's contours"
sarcoma=$root/samples/ct/sarcoma
timed ct.ingest "$program" ingest volumes "$sarcoma" --table "$sarcoma/cases.csv" --classes background,lesion=GTV_Mass_CT --out ct.zarr --json
timed ct.verify "$program" verify ct.zarr --json
timed ct.info "$program" info ct.zarr --json
"$program" sample --config "$configs/ct-tumour.yaml" --count 8 --out ct.png
timed ct-tumour.train "$program" train --config "$configs/ct-tumour.yaml" --out ct-tumour --json
timed ct-tumour.eval "$program" eval --run ct-tumour --json
"$program" report ct-tumour >/dev/null

say "e. colorectal lesions on phantom CT: $patients synthetic patients in two phases, two scanners"
timed colorectal.make "$program" phantom volumes --out bodies --count "$patients" --size 128 --phases 2 --scanners 2 --lesion-mm 20,50 --seed 11 --json
timed colorectal.ingest "$program" ingest volumes bodies/images --table bodies/cases.csv --classes "$(paste -sd, bodies/classes.txt)" \
  --lesion-classes lesion --out colorectal.zarr --json
timed colorectal.verify "$program" verify colorectal.zarr --json
timed colorectal.info "$program" info colorectal.zarr --json
"$program" sample --config "$configs/colorectal.yaml" --count 8 --out colorectal.png
timed colorectal.train "$program" train --config "$configs/colorectal.yaml" --out colorectal --json
timed colorectal.eval "$program" eval --run colorectal --json
"$program" report colorectal >/dev/null

python3 "$root/tools/demo_summary.py" "$out"
