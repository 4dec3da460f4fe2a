# SPDX-License-Identifier: Apache-2.0
# A training reads its files when it begins and when an epoch does, none in a step: ten times the steps read as often.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

# reads NAME OPTIONS...: how often a training opened files to read them, or read.
reads() {
	reads_name=$1
	shift
	FAULT_READS=$reads_name.reads "$top_builddir/tests/cli/faulty" train -q --set=log.dir="$reads_name" --set=log.report=false \
		--set=train.epochs=1 "$@" config.yaml >"$reads_name.out" 2>&1
	tap_is $? 0 "$reads_name: it trains"
	tap_ok "$reads_name: there are files to read" test "$(cat "$reads_name.reads")" -gt 0
}

reads few --set=train.batch_size=20
reads many --set=train.batch_size=2
tap_ok "and there are ten times as many steps" \
	test "$(sed -n 's/.*"step": *\([0-9]*\).*/\1/p' many/*/metrics.jsonl | tail -n 1)" -ge \
	"$((5 * $(sed -n 's/.*"step": *\([0-9]*\).*/\1/p' few/*/metrics.jsonl | tail -n 1)))"
tap_is "$(cat many.reads)" "$(cat few.reads)" "steps of a training read no file"
reads threads --set=train.batch_size=2 --set=run.threads=2
reads threads_few --set=train.batch_size=20 --set=run.threads=2
tap_is "$(cat threads.reads)" "$(cat threads_few.reads)" "nor do those with two threads"
tap_done
