# SPDX-License-Identifier: Apache-2.0
# Unfinished runs of other programs and after accidents: of another numerical version, without a key of the schema, with
# files that lost their ends, killed before the first checkpoint.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
umask 022
more="--no-progress --set=log.checkpoint_steps=1 --set=log.dir=runs"
begin() { : >err; "$QCNN" train $more "$@" --set=train.epochs=1000000 config.yaml 2>err & pid=$!; }
stop() {
	tap_until "$1" 30
	kill -s TERM $pid
	wait $pid
}
begin
stop 'test "$(cat runs/cluster-*/metrics.jsonl | wc -l)" -ge 4 && test -s runs/cluster-*/checkpoint/1.bin'
mv runs kept
name=$(ls kept)
fresh_copy() { rm -rf runs; cp -a kept runs; }
# What a resumed run says first, or a new one beside those that are there: it is then stopped.
continued() {
	before=$(ls runs/*/checkpoint/?.bin 2>/dev/null | wc -l)
	begin "$@"
	stop 'grep -q "resuming" err || [ "$(ls runs/*/checkpoint/?.bin | wc -l)" -gt "$before" ]'
}

# edit FILE WORDS: changes the metadata of weights by sed, to text of equal length, and the file's digest with it.
zeros=0000000000000000000000000000000000000000000000000000000000000000
edit() {
	LC_ALL=C sed -i -e 's/"sha256":"[0-9a-f]*","s/"sha256":"'$zeros'","s/' -e "$2" "$1"
	edit_digest=$(sha256sum "$1" | cut -d ' ' -f 1)
	LC_ALL=C sed -i -e 's/"sha256":"'$zeros'","s/"sha256":"'"$edit_digest"'","s/' "$1"
}

# Another numerical version.
version=$("$QCNN" weights show kept/*/checkpoint/0.bin | sed -n 's/^# numerical_version: //p')
tap_ok "weights show prints the numerical version" test "${version:-0}" -gt 0
fresh_copy
for f in 0 1; do edit "runs/$name/checkpoint/$f.bin" 's/"numerical_version":"'"$version"'"/"numerical_version":"9"/'; done
sed -i 's/"numerical_version": [0-9]*/"numerical_version": 9/; s/"config_sha256": "[0-9a-f]*"/"config_sha256": "aa"/' "runs/$name/run.json"
tap_ok "an edited checkpoint is a file of weights" "$QCNN" weights show "runs/$name/checkpoint/0.bin"
continued
tap_has err "was begun with numerical version 9" "a run of another numerical version is named"
tap_has err "(--resume=$name continues that one)" "with how to continue it"
tap_is "$(ls runs | grep -c cluster-)" 2 "and a new run begins"
continued --resume="$name"
tap_has err "resuming runs/$name" "by name it is continued"
tap_has err "numerical version 9, this program has $version: the last digits may differ" "with a warning"
fresh_copy
for f in 0 1; do edit "runs/$name/checkpoint/$f.bin" 's/"numerical_version"/"numerical_versiom"/'; done
continued
tap_has err "was begun with numerical version 0" "a checkpoint without a version counts as version 0"
"$QCNN" weights show "runs/$name/checkpoint/0.bin" | grep -q '^# numerical_version: 0'
tap_result $? "weights show says so too"
tap_exit 0 "infer takes weights without a version" "$QCNN" infer "runs/$name/checkpoint/0.bin"
tap_is "$(grep -c numerical err)" 0 "without a word"
tap_exit 0 "and with -v" "$QCNN" infer -v "runs/$name/checkpoint/0.bin"
tap_has err "numerical version 0" "names the version"

# A key that the program of the checkpoint did not know.
fresh_copy
for f in 0 1; do edit "runs/$name/checkpoint/$f.bin" 's/\\"shots\\":null/              /; s/\(\\"shortcuts\\":\\"auto\\"\),/\1 /'; done
sed -i '/^  shots:/d' "runs/$name/config.yaml"
sed -i 's/"config_sha256": "[0-9a-f]*"/"config_sha256": "aa"/' "runs/$name/run.json"
"$QCNN" weights show "runs/$name/checkpoint/0.bin" | grep '^# config' | grep -c shots >count
tap_is "$(cat count)" 0 "a checkpoint without run.shots"
continued
tap_has err "resuming runs/$name" "is continued: the key has its default"
fresh_copy
for f in 0 1; do edit "runs/$name/checkpoint/$f.bin" 's/\\"shots\\":null/              /; s/\(\\"shortcuts\\":\\"auto\\"\),/\1 /'; done
tap_exit 78 "with another value of that key" "$QCNN" train $more --resume="$name" --set=train.epochs=1000000 --set=run.gradient=shift --set=run.shots=10 config.yaml
tap_has err "run.gradient is \"shift\" here and \"adjoint\" there" "it is another training"

# Ends of files that are lost.
fresh_copy
truncate -s -20 "runs/$name/metrics.jsonl"
truncate -s 30 "runs/$name/history.csv"
for f in runs/"$name"/train/events.out.*; do truncate -s -10 "$f"; done
begin
stop 'test "$(wc -l <runs/$name/history.csv)" -gt 0'
tap_has err "the last lines of files that belong to the checkpoint are missing" "lost ends are reported"
for file in metrics.jsonl history.csv train/events.out; do tap_has err "$file" "$file is named"; done
tap_is "$(grep -c -v '^{.*}$' "runs/$name/metrics.jsonl")" 0 "every line is whole"
tap_is "$(grep -c '^start,epoch' "runs/$name/history.csv")" 1 "history.csv has its head"
fresh_copy
continued
tap_is "$(grep -c 'lacks the end' err)" 0 "nothing is lost without an accident"

# Killed before the first checkpoint.
fresh_copy
rm "runs/$name"/checkpoint/?.bin
mkdir -p runs/bare-20260101-000000/checkpoint
: >runs/bare-20260101-000000/checkpoint/lock
sed -i 's/"state": "[a-z]*"/"state": "running"/' "runs/$name/run.json"
tap_exit 0 "folders without a checkpoint, without a record" "$QCNN" runs list --dir=runs
tap_is "$(grep -c 'cut off' out)" 2 "are listed as cut off" || sed 's/^/# /' out
begin
stop '[ "$(ls runs/*/checkpoint/?.bin | wc -l)" -gt 0 ]'
tap_has err "runs/$name was killed before its first checkpoint" "a run without a checkpoint is named"
begin
stop 'grep -q "resuming" err'
tap_is "$(grep -c 'before its first' err)" 0 "once"
tap_exit 0 "both can be removed" "$QCNN" runs --dir=runs remove "$name" bare-20260101-000000
tap_is "$(ls runs | grep -c cluster-)" 1 "and are"

# A latest that qcnn did not make.
rm -rf runs
mkdir runs
echo notes >runs/latest
tap_exit 0 "a file called latest" "$QCNN" train $more config.yaml
tap_is "$(cat runs/latest)" notes "is not replaced"
tap_has err "runs/latest was not made by qcnn" "and named"
tap_done
