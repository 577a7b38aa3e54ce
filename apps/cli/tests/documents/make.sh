#!/usr/bin/env bash
# Writes JSON documents of every kind that a version of Masque produces, as fixtures for later versions.
#
#     apps/cli/tests/documents/make.sh MASQUE FOLDER
#
# Run it once for a release, from the root of the repository, with the program of that release. The documents are never
# changed afterwards: `apps/cli/tests/old_documents.rs` checks that they still fit the schemas.
set -u
masque=$1
folder=$2
mkdir -p "$folder"
inputs=$(dirname "$0")/inputs
# A document may have several lines, each with JSON.
lines() {
  "$masque" "${@:2}" > "$folder/$1.jsonl" || true
}
write() { # NAME ARGUMENTS..: the exit code is that of the verdicts, so it is not looked at.
  "$masque" "${@:2}" > "$folder/$1.json" || true
}

write check-ispl check models/ispl/bit_transmission_faulty2.ispl --evidence all --format json --stats
write check-strategies check models/ispl/card_game.ispl --evidence all --format json
write check-fairness check models/regress/fair_strategy.ispl --evidence all --format json
write check-bdi check models/bdi/robot.bdi models/bdi/sally_anne.bdi --evidence all --format json
write check-lcc check models/lcc/llm_team.lcc --evidence all --format json --stats
write check-stuck check models/lcc/two_phase_commit.lcc --evidence all --format json
write check-error check apps/cli/tests/ci/broken.ispl --format json
write check-unknown check models/ispl/dining_cryptographers.ispl -D N=30 --memory 20M --engine explicit --format json
write check-many check models/ispl/trains.ispl models/lcc/english_auction.lcc models/regress/shared_label.ispl --format json
write why-ispl why models/ispl/bit_transmission_faulty2.ispl 1 2 --format json
write why-bdi why models/bdi/robot.bdi not_blind --format json
write why-lcc why models/lcc/contract_net.lcc all_bid --format json
write test test models/ispl/horse_race.ispl models/regress --format json
write bench bench models/ispl/dining_cryptographers.ispl -D N=3,4 --repeat 2 --engines explicit,symbolic --format json
write export-ispl export models/ispl/card_game.ispl --format json
write export-bdi export models/bdi/sally_anne.bdi --format json
write export-lcc export models/lcc/m02_or.lcc --format json
write teams teams "$inputs/shop.lcc" --role "seller=$inputs/una.lcc,$inputs/sam.lcc,$inputs/sue.lcc" --format json
lines monitor monitor models/lcc/llm_team.lcc examples/monitor/goals.mu --input examples/monitor/unreviewed.jsonl \
  --map examples/monitor/team.toml --format json
"$masque" check "$inputs/lamps.ispl" --certify "$folder" -q > /dev/null || true
"$masque" check models/ispl/bit_transmission_faulty2.ispl --only 3 --evidence-format itf \
  --evidence-out "$folder/trace.itf.json" -q || true
python3 "$(dirname "$0")/broker_calls.py" "$masque" > "$folder/broker.json"
