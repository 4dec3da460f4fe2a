# SPDX-License-Identifier: Apache-2.0
# Files that are no files of ours: every command that reads one ends with a documented status and a reason.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
"$QCNN" train -q -o w.bin table.yaml
"$QCNN" weights convert w.bin w.npz
"$QCNN" weights convert w.bin w.json
"$QCNN" compile --emit=bytecode -o two.qbc two.qcnn
"$QCNN" compile --emit=asm -o two.asm two.qcnn
"$QCNN" run -q --format=npy -o o.npy --data new.csv --emit=readouts two.qcnn
mkdir odd

# Half a GiB is more than any of them needs; the sanitizers reserve terabytes and do without.
limit=:
sh -c "ulimit -v 524288 && '$QCNN' --version" >/dev/null 2>&1 && limit="ulimit -v 524288"

# refused STATUSES NAME COMMAND...: ends with one of the statuses, says why in a few lines.
refused() {
	wanted=$1
	name=$2
	shift 2
	($limit; timeout 60 "$QCNN" "$@") >out 2>err </dev/null
	got=$?
	case " $wanted " in *" $got "*) pass=0 ;; *) pass=1 ;; esac
	[ $got -eq 0 ] || { [ -s err ] && [ "$(wc -c <err)" -lt 20000 ]; } || pass=1
	! grep -q 'bug in qcnn\|Sanitizer\|runtime error' err || pass=1
	tap_result $pass "$name" || { tap_note "status $got, expected one of $wanted"; head -c 600 err | sed 's/^/# /'; }
}

# odd FILE COMMAND...: the command with odd things in place of the file, which it takes last.
odd() {
	file=$1
	shift
	half=$(($(wc -c <"$file") / 2))
	rm -rf odd
	mkdir -p "odd/folder.$file"
	ln -s "loop.$file" "odd/loop.$file"
	ln -s /dev/zero "odd/zero.$file"
	ln -s /dev/null "odd/null.$file"
	: >"odd/empty.$file"
	head -c $half "$file" >"odd/half.$file"
	head -c 4000 /dev/zero >"odd/nul.$file"
	{ head -c $half "$file"; printf '\300\200\377\000'; tail -c +$half "$file"; } >"odd/bytes.$file"
	head -c 300000 /dev/zero | tr '\0' '(' >"odd/deep.$file"
	head -c 300000 /dev/zero | tr '\0' '9' >"odd/long.$file"
	refused 66 "$*: a file that is missing" "$@" "odd/missing.$file"
	refused 66 "$*: a folder" "$@" "odd/folder.$file"
	refused 66 "$*: a link to itself" "$@" "odd/loop.$file"
	refused 65\ 78 "$*: a device without end" "$@" "odd/zero.$file"
	refused "$empty" "$*: an empty file" "$@" "odd/empty.$file"
	refused "$empty" "$*: an empty device" "$@" "odd/null.$file"
	refused "$empty" "$*: half a file" "$@" "odd/half.$file"
	for f in nul bytes deep long; do
		refused 65\ 78 "$*: bytes of no sense ($f)" "$@" "odd/$f.$file"
	done
	mkfifo "odd/fifo.$file"
	cat "odd/half.$file" >"odd/fifo.$file" &
	refused "$empty" "$*: a pipe" "$@" "odd/fifo.$file"
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	# A length that nothing in the file bears out.
	cp "$file" "odd/sparse.$file"
	if truncate -s 3G "odd/sparse.$file" 2>/dev/null; then
		refused "$sparse" "$*: three GiB of nothing behind it" "$@" "odd/sparse.$file"
	else
		tap_skip "the file system has no files of 3 GiB"
	fi
}

empty="65" sparse="65"
odd w.bin infer
odd w.bin weights show
odd two.qbc run -q --data new.csv
odd w.npz run -q --data new.csv two.qcnn --weights
odd w.json run -q --data new.csv two.qcnn --weights
odd o.npy run -q two.qcnn --data
empty="65 0"
odd samples.csv infer w.bin --data
odd two.qcnn check
odd two.asm compile --emit=bytecode -o /dev/null
empty="78 0" sparse="65 78"
odd table.yaml config

# Lines without values in the metrics of a run, and few values in many columns, take no more memory than others.
mkdir -p runs/cut
echo '{"schema": 1, "state": "interrupted"}' >runs/cut/run.json
for line in '' '"a": 1'; do
	{
		echo '{"start": 1, "epoch": 1, "loss": 0.5}'
		awk 'BEGIN { for (k = 0; k < 60; k++) printf "%s\"c%d\": 1", k ? ", " : "{", k; print "}" }'
		yes "{$line}" | head -n 3000000
	} >runs/cut/metrics.jsonl
	refused 0 "three million lines {$line} of metrics" runs
	tap_has out "interrupted" "the run is listed"
done

# Values that take far more memory than their text.
if [ "$limit" != : ]; then
	{ echo '['; yes '{},' | head -n 3000000; echo '0]'; } >many.json
	refused 78 "many empty objects as weights" run -q --data new.csv two.qcnn --weights many.json
	tap_has err "many.json: no memory for 12000005 bytes of JSON" "what lacks is named"
fi
{ echo '['; yes '{},' | head -n 4000000; echo '0]'; } >many.json
refused 65 "still more of them" run -q --data new.csv two.qcnn --weights many.json
tap_has err "many.json: JSON beyond the limits" "which are beyond the limit"
tap_done
