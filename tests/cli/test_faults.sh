# SPDX-License-Identifier: Apache-2.0
# Trainings that are killed, that find no room or are stopped at one call to the file system go on to what the calm
# run leaves. Here at some of the calls; soak_resume.sh takes each.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
. "$top_srcdir/tests/cli/file_faults.sh"
make_files
make_learner
slow=${QCNN_SANITIZED:+4}

faults kill "137 0" $((${slow:-1} * 17)) 6 "killed" $faulty_more "$faulty_callbacks"
faults tear "137 0" $((${slow:-1} * 11)) 2 "torn" $faulty_more "$faulty_callbacks"
faults "full 1" "0 73 74" $((${slow:-1} * 11)) 4 "no room once" $faulty_more "$faulty_callbacks"
faults "full 0" "0 73 74" $((${slow:-1} * 21)) 8 "no room any more" $faulty_more "$faulty_callbacks"
faults "broken 1" "0 73 74" 9 100 "one call that fails" $faulty_more "$faulty_callbacks"
faults "broken 0" "0 73 74" $((${slow:-1} * 23)) 5 "a disk that fails" $faulty_more "$faulty_callbacks"
faults "readonly 0" "0 73 74" $((${slow:-1} * 29)) 11 "a disk that is read-only from then on" $faulty_more "$faulty_callbacks"
faults TERM "0 75" $((${slow:-1} * 17)) 3 "TERM" $faulty_more "$faulty_callbacks"
faults XCPU "0 75" $((${slow:-1} * 60)) 1 "XCPU" $faulty_more "$faulty_callbacks"

# A folder that is removed while its training runs is made again, with what comes from then on.
gone() {
	"$QCNN" train --no-progress --set=log.dir=gone --set=log.checkpoint_steps=1 --set=train.epochs=1000000 config.yaml 2>err &
	pid=$!
	tap_until 'test -s gone/cluster-*/checkpoint/1.bin'
}
gone
run=$(echo gone/cluster-*)
kill -s STOP $pid
rm -r "$run"
kill -s CONT $pid
tap_until 'test -s "$run"/checkpoint/1.bin -a -s "$run"/metrics.jsonl'
"$QCNN" train -q --set=log.dir=gone --set=log.checkpoint_steps=1 --set=train.epochs=1000000 config.yaml 2>again
tap_is $? 73 "a second process is refused in it, too"
kill -s TERM $pid
wait $pid
tap_is $? 75 "a run whose folder was removed can be stopped"
gone
tap_until 'grep -q resuming err'
kill -s TERM $pid
wait $pid
tap_has err "resuming $run" "and goes on in that folder"
"$QCNN" train --no-progress --set=log.dir=last --set=train.epochs=300000 --set=log.tensorboard=false --set=log.report=false \
	--set=train.max_steps=20000 -o last.bin config.yaml 2>err &
pid=$!
tap_until 'test -s last/cluster-*/metrics.jsonl'
run=$(echo last/cluster-*)
kill -s STOP $pid
rm -r "$run"
: >"$run"
kill -s CONT $pid
wait $pid
tap_is $? 73 "where it cannot be made again, the run ends with 73"
tap_has err "the weights are in last.bin" "and its weights are where --output says"
tap_ok "whole" "$QCNN" weights show last.bin

# Event files that cannot be made: a file lies where the second start's folder has to be. A checkpoint has what waits, so
# that it is not lost with the process either.
several="--set=train.restarts=3 --set=log.checkpoint_steps=1 --set=train.epochs=20 --set=log.histograms=1"
cat >kill.sh <<'END'
[ $QCNN_START -ne 1 ] || [ $QCNN_EPOCH -ne 20 ] || : >"$QCNN_RUN/start-2"
[ $QCNN_START -ne 2 ] || [ $QCNN_EPOCH -ne 15 ] || kill -s KILL $PPID
END
"$QCNN" train -q --set=log.dir=calm $several config.yaml
"$QCNN" train --no-progress --set=log.dir=waits $several "--set=train.callbacks={command: {run: [sh, $PWD/kill.sh], on: epoch}}" config.yaml 2>err
tap_is $? 137 "killed in the second start"
tap_is "$(grep -c 'training continues' err)" 1 "whose records cannot be written, which is reported once"
rm waits/cluster-*/start-2
tap_exit 0 "the same command goes on" "$QCNN" train --set=log.dir=waits $several config.yaml
tap_has err "resuming waits/cluster-" "from where it was"
for tag in batch_loss epoch_loss /histogram epoch_gradient_norm _vs_iterations session_start_info; do
	tap_is "$(tags "$(tap_run waits)"/ $tag)" "$(tags "$(tap_run calm)"/ $tag)" "$tag: of three starts none is lost, none twice"
done
tap_done
