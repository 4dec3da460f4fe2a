# SPDX-License-Identifier: Apache-2.0
# Trainings that are stopped, find no room or no folder: the right status, old files whole, nothing half-written.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
# One thread: several would wait for one another in turns where other tests run besides.
sed 's/seed: 7,/seed: 7, threads: 1,/' config.yaml >one.yaml && mv one.yaml config.yaml
"$QCNN" train -q -o old.bin config.yaml
"$QCNN" train -q --set run.seed=9 --set train.epochs=150 -o new.bin config.yaml
mkdir place

# stopped SIGNAL STATUS HUNDREDTHS: a training that gets the signal after so many hundredths of a second.
stopped() {
	rm -rf stopped place
	mkdir place
	cp old.bin place/w.bin
	sh -c "exec '$QCNN' train -q --set run.seed=9 --set train.epochs=150 --set log.dir=stopped -o place/w.bin config.yaml" 2>err &
	pid=$!
	sleep "0.$3"
	kill -s "$1" $pid 2>/dev/null
	wait $pid 2>/dev/null
	got=$?
	pass=1
	case " $2 " in *" $got "*) got_wanted=$got ;; *) got_wanted= ;; esac
	case $got in
	0) cmp -s place/w.bin new.bin && cmp -s stopped/latest/weights.bin new.bin && pass=0 ;;
	# The signal may also come between the rename of the new file and the end of the process.
	"$got_wanted") { cmp -s place/w.bin old.bin || cmp -s place/w.bin new.bin; } && pass=0 ;;
	esac
	tap_result $pass "$1 after 0.$3 s: finished, or stopped with $2; the file is the old or the new one, whole" || {
		tap_note "status $got"
		sed 's/^/# /' err
	}
	if [ "$1" != KILL ]; then
		tap_is "$(find place stopped -name '*.tmp*' -o -name '.latest*' 2>/dev/null)" "" "no temporary file"
	fi
	if [ -e stopped/latest ]; then
		tap_ok "latest has weights that are whole" "$QCNN" weights show stopped/latest/weights.bin
	fi
}
for delay in 01 02 03 05 08 13; do
	stopped INT "75 | 130" $delay
	stopped TERM "75 | 143" $delay
	stopped KILL 137 $delay
done
# Before there are files the others end the process as they always do; then as TERM does.
until_running() {
	rm -rf stopped
	sh -c "$2 exec '$QCNN' train -q --set train.epochs=1000000 --set log.dir=stopped config.yaml" 2>err &
	pid=$!
	tap_until 'test -s stopped/cluster-*/metrics.jsonl'
	kill -s "$1" $pid
}
for s in HUP USR1 USR2 XCPU; do
	until_running $s ""
	wait $pid
	tap_is $? 75 "$s ends a run as TERM does"
	tap_has "$(echo stopped/cluster-*/run.json)" '"state": "interrupted"' "the run is recorded"
done
until_running HUP "trap '' HUP;"
sleep 0.1
kill -s TERM $pid
wait $pid
tap_is $? 75 "under nohup HUP does nothing, TERM ends it"

# Before training: at once, since nothing is lost.
mkfifo slow.csv
sed 's/train: samples.csv/train: slow.csv/' table.yaml >slow.yaml
for s in INT TERM HUP USR1; do
	"$QCNN" train --set log.dir=early slow.yaml 2>err &
	pid=$!
	exec 9>slow.csv
	kill -s $s $pid
	wait $pid
	tap_is $? 75 "$s while data are read"
	exec 9>&-
	tap_has err "stopped before training began; the same command starts again" "says so"
done
tap_ok "it leaves nothing" test ! -e early
# Two INT: the second does not wait, here for a program at the run's end.
echo 'echo $$; exec sleep 100' >end.sh
sh -c "exec '$QCNN' train --set log.dir=twice '--set=train.callbacks={command: {run: [sh, \"$PWD/end.sh\"], on: end, timeout: 1000}}' config.yaml" 2>err &
pid=$!
tap_until 'test -s twice/cluster-*/command.log'
kill -s INT $pid
tap_took_int $pid
tap_ok "one INT is noted" kill -0 $pid
kill -s INT $pid
wait $pid
tap_is $? 130 "the second ends the process"
kill "$(cat twice/cluster-*/command.log)"

rm -f place/w.bin.tmp-*    # a killed one leaves what it was writing
# No room: a limit on a file's size stands for a full disk, /dev/full for a full output.
cp old.bin w.bin
tap_exit 74 "weights larger than a file may be" sh -c "ulimit -f 1; exec '$QCNN' train -q --set model.file=cluster.qcnn --set data.rounds=10 -o w.bin config.yaml"
tap_has err "File too large" "the reason"
tap_same w.bin old.bin "the old weights are whole"
tap_is "$(find . -name '*.tmp*')" "" "no temporary file"
tap_exit 73 "--output is a folder" "$QCNN" train -q --set log.dir=unused -o place config.yaml
tap_exit 73 "--output is in no folder" "$QCNN" train -q --set log.dir=unused -o w.bin/x config.yaml
tap_ok "both are seen before the training" test ! -e unused
: >file
tap_exit 73 "log.dir is a file" "$QCNN" train -q --set log.dir=file config.yaml
ln -s loop loop
tap_exit 73 "log.dir is a link to itself" "$QCNN" train -q --set log.dir=loop config.yaml
mkdir -p held/latest
tap_exit 0 "latest is a folder of someone" "$QCNN" train -q --set log.dir=held config.yaml
tap_is "$(ls -A held/latest; ls -A held | grep -c latest)" 1 "it stays empty"
for i in 1 2 3 4; do
	"$QCNN" train -q --fresh --set log.dir=many -o same.bin config.yaml &
done
wait
tap_is "$(ls -d many/cluster-* | wc -l)" 4 "four runs at once have four folders"
tap_same same.bin old.bin "and a whole file"

# Odd surroundings.
"$QCNN" infer old.bin >expected
tap_exit 0 "an empty environment" env -i "$QCNN" infer old.bin
tap_same out expected "the same numbers" 2>/dev/null
got=0
"$QCNN" infer old.bin >&- 2>err || got=$?
tap_is $got 74 "a closed output"
got=0
"$QCNN" train --verbose --set log.dir=closed --set 'train.callbacks.command={run: [no-such-program], on: epoch}' -o closed.bin \
	config.yaml <&- >&- 2>&- || got=$?
tap_is $got 0 "everything closed"
tap_is "$(grep -r -a -l 'qcnn train: ' closed)" "" "no message is written into a file of the run"
tap_same closed.bin old.bin "the files are what they should be"
{
	while [ ! -e gone ]; do sleep 0.02; done
	got=0
	"$QCNN" weights show --json old.bin 2>err || got=$?
	echo $got >pipe
	got=0
	"$QCNN" train --verbose --set log.dir=pager -o pager.bin config.yaml 2>&1 || got=$?
	echo $got >>pipe
} | {
	exec <&-
	: >gone
}
tap_is "$(cat pipe | tr '\n' ' ')$(wc -c <err)" "141 0 0" "a reader that went away ends the output without a message, and no training"
tap_same pager.bin old.bin "whose weights are the same"
for c in 1 -5 99999999999 x; do
	tap_exit 0 "COLUMNS=$c" env COLUMNS=$c TERM=dumb LANG=C "$QCNN" train --help
done
long=$(head -c 5000 /dev/zero | tr '\0' a)
tap_exit 66 "a name of 5000 letters" "$QCNN" run "$long"
tap_exit 73 "to write to it, too" "$QCNN" run -q -o "$long" bell.qcnn
tap_exit 66 "an empty name" "$QCNN" run ""
for words in "trian config.yaml" "train --epoch=3 config.yaml" "train" "train config.yaml config.yaml" "run --format" "run --format= bell.qcnn" "run --format=xml bell.qcnn" "run --threads=0 bell.qcnn" "run --threads=-1 bell.qcnn" "run --threads=99999999999999999999 bell.qcnn" "run -Z bell.qcnn" "run --quiet=yes bell.qcnn" "-- --help"; do
	tap_exit 2 "qcnn $words" "$QCNN" $words
	tap_ok "says why" test -s err
done

# A signal while the test part is evaluated, which takes long here: the training has finished, with the weights that it keeps then.
"$QCNN" train --no-progress --set=model.const.n=12 --set=train.epochs=1 --set=train.restarts=1 --set=run.threads=1 --set=data.rounds=20000 \
	--set='data.split={train: 0.0002, validation: 0.0002, test: 0.9996}' --set=log.dir=tested "$top_srcdir/examples/cluster/config.yaml" 2>err &
pid=$!
tap_until '[ -e tested/cluster-*/weights.bin ] || [ -z "$(tap_left $pid)" ]'
kill -s TERM $pid
wait $pid
tap_is $? 0 "a signal while the test part is evaluated"
tap_has err 'the test data were not evaluated: stopped by TERM; `qcnn infer` evaluates them' "is said"
tap_has tested/latest/run.json '"state": "finished"' "the training has finished"
tap_ok "and can be extended" test -s tested/latest/state.bin
tap_is "$(grep -c test_loss tested/latest/run.json)" 0 "without results of the test part"
tap_done
