# SPDX-License-Identifier: Apache-2.0
# Trainings that were stopped or killed go on: the bits, the lines and the events of one that never stopped.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner
more="--set=log.checkpoint_steps=1 --set=train.epochs=40 --set=train.batch_size=4 --set=log.histograms=3"

# Killed before the first epoch has ended, twice: the head of history.csv is there once.
for i in 1 2; do
	"$QCNN" train -q $more --set=log.dir=early config.yaml &
	pid=$!
	tap_until 'test -s early/cluster-*/checkpoint/1.bin'
	kill -s KILL $pid
	wait $pid 2>/dev/null
done
"$QCNN" train -q $more --set=log.dir=early config.yaml
tap_is "$(grep -c '^start,epoch' early/latest/history.csv) $(wc -l <early/latest/history.csv)" "1 41" "history.csv has one head and all epochs"
rm -rf early

# Killed at any moment, again and again.
make_gate
gated="$more --set=train.callbacks.command.run=[./gate] --set=train.callbacks.command.on=epoch"
killed 4 adam $gated
killed 4 sgd $gated "--set=train.optimizer={sgd: {momentum: 0.9}}"
killed 4 starts $gated --set=run.threads=2 --set=train.restarts=3 --set=train.epochs=13
killed 3 plain $gated "--set=train.optimizer={spsa: {}}"

# Stopped by a signal: one more step at most, one line, and the same command goes on.
stop_after() {
	rm -rf stopped
	"$QCNN" train --no-progress $more --set=train.epochs=1000000 --set=log.dir=stopped "$@" config.yaml 2>err &
	pid=$!
	tap_until 'test -s stopped/cluster-*/checkpoint/1.bin'
}
stop_after
kill -s USR1 $pid
wait $pid
tap_is $? 75 "USR1 stops with 75"
tap_is "$(grep -c 'the same command resumes from there' err)" 1 "one line says how it goes on"
tap_ok "a checkpoint is a file of weights" "$QCNN" weights show stopped/cluster-*/checkpoint/1.bin
tap_ok "that infer takes" "$QCNN" infer stopped/cluster-*/checkpoint/0.bin

# What a killed process left half-written is removed when its run goes on.
for f in checkpoint/1.bin.tmp-1-0 run.json.tmp-12-3 train/x.tmp-4-5; do : >"$(echo stopped/cluster-*)/$f"; done
for f in mine.tmp-1 my.tmp-1-0.txt; do : >"$(echo stopped/cluster-*)/$f"; done
"$QCNN" train --no-progress $more --set=train.epochs=1000000 --set=log.dir=stopped config.yaml 2>err &
pid=$!
tap_until 'grep -q resuming err'
kill -s TERM $pid
wait $pid
tap_is "$(find stopped -name '*.tmp-*' | sed 's/.*\///' | sort | tr '\n' ' ')" "mine.tmp-1 my.tmp-1-0.txt " "half-written files of a killed process are removed, others are not"

# By time.
"$QCNN" train -q --set=train.epochs=1000000 --set=log.checkpoint_seconds=1 --set=log.dir=timed config.yaml 2>/dev/null &
timed=$!

# Two at once on one run, by itself and by name.
run=$(echo stopped/cluster-*)
"$QCNN" train -q $more --set=train.epochs=1000000 --set=log.dir=stopped config.yaml 2>/dev/null &
pid=$!
tap_until 'grep -q process "$run/checkpoint/lock" && grep -q "^process $pid " "$run/checkpoint/lock"'
for words in "" "--resume=${run#*/}"; do
	tap_exit 73 "a second process is refused ${words:-(auto)}" "$QCNN" train -q $more --set=train.epochs=1000000 --set=log.dir=stopped $words config.yaml
	tap_has err "another process trains it: process $pid on" "it names the first"
done
kill -s INT $pid
wait $pid


# --fresh, --resume.
again() {
	tap_want=$1
	tap_what=$2
	shift 2
	tap_exit "$tap_want" "$tap_what" "$QCNN" train --no-progress --set=log.dir=stopped --set=train.batch_size=4 "$@" config.yaml
}
again 2 "--fresh and --resume" --fresh --resume=x
again 66 "no such run" --resume=nothing
again 78 "another configuration is named" --resume=cluster --set=train.epochs=3
tap_has err "train.epochs is 3 here and 1000000 there" "with what differs"
hint=$(sed -n 's/.*`--set \(train.init.from=[^`]*\)` begins a new run with its weights.*/\1/p' err)
again 0 "which its checkpoint can begin" --fresh --set=train.epochs=3 --set="$hint" --set=log.dir=further
again 0 "another configuration begins a new run" --set=train.epochs=3
tap_is "$(ls -d stopped/cluster-* | wc -l | tr -d ' ')" 2 "in a folder of its own"
finished=$(basename "$(tap_run stopped)")
again 2 "a finished run" --resume="$finished" --set=train.epochs=3
tap_has err "has finished" "is not gone on with"
tap_has err 'train.init.from=' "its weights can be"
again 0 "nor by itself" --set=train.epochs=3
tap_is "$(ls -d stopped/cluster-* | wc -l | tr -d ' ')" 3 "a new folder again"

tap_until 'test -s timed/cluster-*/checkpoint/0.bin'
tap_ok "a checkpoint after a second" test -s timed/cluster-*/checkpoint/0.bin
kill -s KILL $timed

# What has changed meanwhile.
changed() {
	rm -rf stopped
	"$QCNN" train -q --set=train.epochs=1000000 --set=log.checkpoint_steps=1 --set=log.dir=stopped table.yaml 2>err &
	pid=$!
	tap_until 'test -s stopped/two-*/checkpoint/1.bin'
	kill -s TERM $pid
	wait $pid
}
table() { tap_exit "$1" "$2" "$QCNN" train --no-progress --set=train.epochs=1000000 --set=log.checkpoint_steps=1 --set=log.dir=stopped table.yaml; }
changed
run=$(echo stopped/two-*)
cp samples.csv keep.csv
sed -i 's/0.5,0.1,1/0.5,0.2,1/' samples.csv
table 65 "the data have changed"
tap_has err "train (samples.csv): the data have changed since $run was interrupted" "which part, and what to do"
cp keep.csv samples.csv
cp two.qcnn keep.qcnn
sed -i 's/rx(each x)/ry(each x)/' two.qcnn
table 65 "the model has changed"
tap_has err "the model has changed since $run was interrupted" "which run"
cp keep.qcnn two.qcnn

# Damage.
newest=$(ls -t "$run"/checkpoint/*.bin | head -n 1)
for f in 0 1; do cp "$run/checkpoint/$f.bin" "$f.keep"; done
damage() { printf 'xxxx' | dd of="$1" bs=1 seek=3000 conv=notrunc 2>/dev/null; }
damage "$run/checkpoint/0.bin"
damage "$run/checkpoint/1.bin"
table 65 "both checkpoints are damaged"
tap_has err "begin a new run with --fresh" "what to do"
for f in 0 1; do : >"$run/checkpoint/$f.bin"; done
table 65 "both are empty"
for f in 0 1; do cp "$f.keep" "$run/checkpoint/$f.bin"; done
damage "$newest"
"$QCNN" train --no-progress --set=train.epochs=1000000 --set=log.checkpoint_steps=1 --set=log.dir=stopped table.yaml 2>err &
pid=$!
tap_until 'grep -q "resuming" err'
kill -s TERM $pid
wait $pid
tap_is $? 75 "the newest is damaged: the one before is taken"
tap_is "$(grep -c 'resuming from the other checkpoint' err)" 1 "with a warning"
rm "$run"/checkpoint/?.bin
tap_exit 66 "no checkpoint" "$QCNN" train -q --set=train.epochs=1000000 --set=log.dir=stopped --resume="${run#*/}" table.yaml
tap_has err "has no checkpoint" "is said"

# Nothing is left of a training that fails before its first step.
tap_exit 1 "a value that is not finite in the first step" "$QCNN" train -q --set data.label_map='{0: -1e200, 1: 1}' --set log.dir=early table.yaml
tap_is "$(ls early)" "" "leaves no folder"
tap_done
