# SPDX-License-Identifier: Apache-2.0
# qcnn train --resume=RUN without a configuration goes on with the run's own, from any folder, to the bits of a run that had it.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
mkdir project other
cd project
make_files
cat >>samples.csv <<'ROWS'
0.7,0.3,1
0.2,0.9,0
0.4,0.4,1
0.8,0.5,0
0.6,0.7,1
0.9,0.2,0
ROWS
sed -i 's/^model:.*/model: {file: two.qcnn, const: {}}/' table.yaml
train() { "$QCNN" train --no-progress "$@"; }
changes="--set run.seed=3 --set train.optimizer.adam.learning_rate=0.1"
origins() { sed '/^  dir: /d' "$1"/latest/config.yaml; }

train -q $changes --set=train.epochs=9 --set=log.dir=long table.yaml
train -q $changes --set=train.epochs=3 table.yaml
run=$(tap_run runs)
tap_exit 0 "in its folder" "$QCNN" train --no-progress --resume=latest --set train.epochs=4
tap_has err "extending $run from 3 to 4 epochs" "the run is extended"
cd ../other
tap_exit 0 "from another folder, by a path" "$QCNN" train --no-progress --resume=../project/runs/latest --set train.epochs=6
tap_has err "extending ../project/$run from 4 to 6 epochs" "the same run"
tap_is "$(ls)" "err
out" "nothing is written here"
tap_exit 0 "by an absolute path" "$QCNN" train --no-progress --resume="${PWD%/other}/project/runs/latest" --set train.epochs=7
cd "../project/$run"
tap_exit 0 "in the folder of the run" "$QCNN" train --no-progress --resume=. --set train.epochs=8
rm out err
cd ../..
tap_exit 0 "--set log.dir names the folder of runs" "$QCNN" train -q --set log.dir=runs --resume=latest --set train.epochs=9
tap_same runs/latest/weights.bin long/latest/weights.bin "the bits of one that was not extended"
tap_is "$(origins runs)" "$(origins long)" "the same configuration, with the origin of each value"
tap_is "$(ls -d runs/*-* | wc -l | tr -d ' ')" 1 "all in one folder"

# The command from the beginning: for qcnn runs, the report, and `the same command`.
tap_exit 0 "qcnn runs" "$QCNN" runs
tap_has out "run.seed=3 train.optimizer.adam.learning_rate=0.1 log.dir=runs train.epochs=9" "lists what the commands have changed, once each"
tap_has "$run/run.json" '"--set", "train.epochs=9", "table.yaml"], ' "the record has the configuration's name"
tap_has "$run/run.json" "\"folder\": \"$PWD\"" "and the folder of the command"
tap_has "$run/report.html" "qcnn train --set run.seed=3 --set train.optimizer.adam.learning_rate=0.1 -q --set log.dir=runs --set train.epochs=9 table.yaml" \
	"the report says how to run it again"
tap_is "$(grep -c -e --resume "$run/report.html")" 0 "from the beginning"

# What is checked with a configuration is checked without.
tap_exit 78 "another value" "$QCNN" train -q --resume=latest --set train.epochs=20 --set run.seed=4
tap_has err "run.seed is 4 here and 3 there" "is named"
tap_exit 78 "a wrong value" "$QCNN" train -q --resume=latest --set train.epochs=-1
tap_exit 78 "a wrong file" sh -c 'sed -i s/^run:/ruin:/ "$1/config.yaml"; "$QCNN" train -q --resume=latest --set train.epochs=20' - "$run"
tap_has err "$run/config.yaml:" "is named"
sed -i s/^ruin:/run:/ "$run/config.yaml"
for options in "" --fresh --resume=auto; do
	tap_exit 2 "no configuration, '$options'" "$QCNN" train $options
	tap_has err "missing CONFIG" "is said"
done
tap_exit 66 "no such run" "$QCNN" train --resume=nothing
tap_has err 'there is no run `nothing` in runs' "is said"
cp table.yaml changed.yaml
tap_exit 78 "a configuration of another training" "$QCNN" train -q --resume=latest --set train.epochs=10 changed.yaml
tap_has err "; without CONFIG it is resumed with its own" "says what would do"
tap_exit 0 "a configuration counts where it is named" "$QCNN" train -q $changes --resume=latest --set train.epochs=10 changed.yaml
tap_has "$run/config.yaml" "# changed.yaml:" "it was read"

# An interrupted run, and workers.
cat >stop <<'PROGRAM'
#!/bin/sh
[ "$QCNN_EPOCH" != 3 ] || [ -e open ] || kill -s USR1 $PPID
PROGRAM
chmod +x stop
set -- "--set=train.callbacks.command={run: [./stop], on: epoch}" --set=train.epochs=6
tap_exit 75 "a signal" "$QCNN" train -q "$@" --set=log.dir=stopped table.yaml
stopped=$(ls -d stopped/*-*)
tap_exit 66 "latest is a run that has finished" "$QCNN" train --no-progress --set=log.dir=stopped --resume=latest
tap_has err "$stopped has not finished: --resume=$stopped goes on with it" "the other is named"
cp -a "$(tap_run long)" stopped/long && sed -i 's/"written": "20/"written": "19/' stopped/long/run.json
mkdir stopped/latest && ln -s ../long/run.json stopped/latest
tap_exit 2 "also where one has" "$QCNN" train --no-progress --set=log.dir=stopped --resume=latest
tap_has err "$stopped is newer, and has not finished: --resume=$stopped goes on with it" "it is named, too"
rm -r stopped/long stopped/latest
: >open
tap_exit 0 "with workers" "$QCNN" train --no-progress --hosts local:2 --resume="$(ls -d stopped/*-*)"
tap_has err "resuming stopped/" "it goes on"
train -q "$@" --set=log.dir=whole table.yaml
tap_same stopped/latest/weights.bin whole/latest/weights.bin "to the bits of one that was not stopped"

# Moved, as to another machine.
cd ..
mv project moved
cd moved
tap_exit 0 "in a folder that was moved" "$QCNN" train --no-progress --resume=latest --set train.epochs=11
tap_has err "/project, where $run was begun, has no two.qcnn: the paths of its configuration begin at this folder" "it says so"
tap_has "$run/run.json" "\"folder\": \"$PWD\", \"config_folder\": \"$PWD\"" "from now on they do"
mv samples.csv ..
tap_exit 66 "the data are gone" "$QCNN" train --no-progress --resume=latest --set train.epochs=12
tap_has err "cannot read $PWD/samples.csv" "they are named"
tap_has err "$run/config.yaml begin at $PWD;" "where they were looked for"
tap_has err "--resume=$run CONFIG" "and what to do"
sed '2s/0.1/0.2/' ../samples.csv >samples.csv
tap_exit 65 "other data" "$QCNN" train --no-progress --resume=latest --set train.epochs=12
mv ../samples.csv samples.csv

# Whoever may write to it could name a program.
chmod o+w "$run/config.yaml"
tap_exit 2 "a run that others may write to" "$QCNN" train --no-progress --resume=latest --set train.epochs=12
tap_has err "others may write to config.yaml; a configuration in it may run programs" "why"
tap_exit 0 "it goes on with a configuration" "$QCNN" train -q $changes --resume=latest --set train.epochs=12 changed.yaml
tap_done
