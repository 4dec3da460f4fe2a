# SPDX-License-Identifier: Apache-2.0
# A training whose disk is full: it goes on, its checkpoint stays whole, one note says so, and nothing is lost
# when there is room again. The disk is a tmpfs in a mount namespace of the test's own.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
if [ -z "$own_mounts" ]; then
	for how in -m -rm; do
		unshare $how sh -c 'mkdir -p mount.probe && mount -t tmpfs -o size=64k none mount.probe' 2>/dev/null &&
			own_mounts=1 top_srcdir=$top_srcdir exec unshare $how sh "$0"
	done
	tap_skip_all "no mount namespace of one's own"
fi
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner
mkdir disk
mount -t tmpfs -o size=4m none disk || tap_skip_all "no tmpfs"

fill() { dd if=/dev/zero of=disk/filler bs=1k oflag=append conv=notrunc 2>/dev/null; [ "$(df -k disk | awk 'NR == 2 { print $4 }')" -eq 0 ]; }
# Fills it while the training is stopped and writes no file, as a checkpoint makes room when it takes the old one's place: nothing is
# saved from then on.
fill_up() {
	for i in $(seq 1000); do
		kill -s STOP $pid
		tap_until '! ps -L -o stat= -p $pid | grep -qv T'
		[ -n "$(find "$run" -name '*.tmp*')" ]
		writes=$?
		[ $writes = 0 ] || fill
		full=$?
		kill -s CONT $pid
		[ $writes = 0 ] || return $full
	done
	return 1
}
lines() { cat disk/runs/cluster-*/metrics.jsonl 2>/dev/null | wc -l | tr -d ' '; }
start() {
	: >err                       # so that nothing of the run before is read
	"$QCNN" train --no-progress --set=log.dir=disk/runs --set=log.checkpoint_steps=1 --set=log.report=false \
		--set=train.epochs=1000000 "$@" config.yaml 2>err &
	pid=$!
}

start
tap_until 'test -s disk/runs/cluster-*/checkpoint/1.bin'
run=$(echo disk/runs/cluster-*)
tap_ok "the disk is full" fill_up
# Enough for many updates, none of which can be saved.
tap_until 'grep -q "No space left" err'
old=$(cksum "$run"/checkpoint/?.bin)
had=$(lines)
sleep 0.3
kill -0 $pid
tap_result $? "training goes on"
tap_is "$(cksum "$run"/checkpoint/?.bin)" "$old" "the checkpoints stay as they are"
for f in 0 1; do tap_ok "$f.bin is whole" "$QCNN" weights show "$run/checkpoint/$f.bin"; done
tap_ok "no temporary file stays" tap_until '[ -z "$(find "$run" -name "*.tmp*")" ]'      # each try makes one
tap_is "$(grep -c 'the training continues, and tries again' err) $(grep -c error err)" "1 0" "one note"
rm disk/filler
tap_until '[ "$(cksum "$run"/checkpoint/?.bin)" != "$old" ] && [ "$(lines)" -gt "$had" ]'
tap_ok "with room again it is saved" test "$(cksum "$run"/checkpoint/?.bin)" != "$old"
tap_is "$(sed 's/.*"epoch": \([0-9]*\),.*/\1/' "$run/metrics.jsonl" | awk '$1 != NR' | head -n 1)" "" "no line of metrics is lost"

# A signal while it is full: the state cannot be saved, and that is said.
fill_up
kill -s TERM $pid
wait $pid
tap_is $? 74 "a signal while it is full"
tap_has err "what was done since the last checkpoint is lost" "what that means"
start
tap_until 'grep -q "No space left" err'
tap_has err "resuming $run" "on a full disk the same command goes on, too"
rm disk/filler
old=$(cksum "$run"/checkpoint/?.bin)
tap_until '[ "$(cksum "$run"/checkpoint/?.bin)" != "$old" ]'
kill -s TERM $pid
wait $pid
tap_is $? 75 "to the next signal"

# The weights find no room: 74, and the same command finishes.
make_gate
: >open
short="--set=train.epochs=40 --set=train.callbacks.command.run=[./gate] --set=train.callbacks.command.on=epoch"
"$QCNN" train -q --set=log.checkpoint_steps=1 $short --set=log.dir=calm -o calm.bin config.yaml
rm -rf disk/runs
rm open
start $short --set=log.tensorboard=false
tap_until 'test -s disk/runs/cluster-*/checkpoint/1.bin'
run=$(echo disk/runs/cluster-*)
fill_up
: >open
wait $pid
tap_is $? 74 "the weights cannot be written"
tap_has err "weights.bin" "they are named"
rm disk/filler
start $short --set=log.tensorboard=false
wait $pid
tap_is $? 0 "with room the same command finishes"
tap_has err "resuming" "from the checkpoint"
tap_same disk/runs/latest/weights.bin calm/latest/weights.bin "to the same weights"
tap_is "$(no_times disk/runs/latest/metrics.jsonl)" "$(no_times calm/latest/metrics.jsonl)" "with the same metrics"
tap_is "$(ls -d disk/runs/cluster-* | wc -l | tr -d ' ')" 1 "in one folder"
fill
tap_exit 74 "a profile that finds no room" "$QCNN" profile --no-limits --steps 5 --level=phases -o disk/profile config.yaml
tap_has err "No space left" "says why"
umount disk

# Room for all results but the state from which the training could be extended.
sed 's/head.*/head { dense(300, tanh); dense(300, tanh); dense(1, tanh); }/' cluster.qcnn >large.qcnn
large() { "$QCNN" train --no-progress --set=model.file=large.qcnn --set=log.report=false --set=log.tensorboard=false --set=train.epochs=1 "$@" config.yaml; }
kilobytes() { du -k "$@" | awk '{ n += $1 } END { print n }'; }
large --set=log.dir=room
large_run=$(tap_run room)
mount -t tmpfs -o size=$(($(kilobytes "$large_run") - $(kilobytes "$large_run/weights.bin") / 2))k none disk
tap_exit 0 "no room for the state after the last epoch" large --set=log.dir=disk
tap_has err "the run cannot be extended by more epochs" "says what that means"
tap_same "$large_run/weights.bin" disk/latest/weights.bin "the weights are there"
tap_has disk/latest/run.json '"state": "finished"' "and the run has finished"
tap_ok "no temporary file stays" test -z "$(find disk -name '*.tmp*')"
umount disk
tap_done
