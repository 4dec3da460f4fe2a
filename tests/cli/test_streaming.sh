# SPDX-License-Identifier: Apache-2.0
# data.streaming: the same weights as with all inputs in memory, and what can go wrong.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
export TMPDIR="$PWD/tmp"
mkdir tmp

both() {
	what=$1
	shift
	tap_ok "$what: in memory" "$QCNN" train -q -o memory.bin --set data.streaming=off "$@"
	tap_ok "$what: streamed" "$QCNN" train -q -o streamed.bin --set data.streaming=on "$@"
	tap_same streamed.bin memory.bin "$what: the same file"
}

printf 'a,b,label\n0.7,0.1,1\n' >new.csv
sh "$top_srcdir/tests/cli/make_idx.sh" 300 spots
cat >spots.qcnn <<'END'
const int n = 4;
qubit[n] q;
input float[n] x;
rx(each x) on q;
layer turn { param float[n] w; ry(each w) on q; cz on ring(q); }
observe z(q[0]);
END
cat >spots.yaml <<'END'
model: {file: spots.qcnn}
data:
  train: spots-images-idx3-ubyte.gz
  label_map: {0: -1, 1: 1}
  transform: [{pca: {components: 4}}, min_max]
  split: {train: 0.7, validation: 0.2, test: 0.1}
  split_shuffle: true
  split_stratify: true
train: {epochs: 2, batch_size: 16, metrics: [accuracy]}
run: {seed: 3}
END
both "IDX, pca, shuffled and stratified parts" spots.yaml
cp memory.bin spots.bin
tap_exit 0 "infer reads the test part" "$QCNN" infer --json spots.bin
both "CSV" table.yaml
both "CSV, several epochs and restarts" --set train.restarts=2 --set data.transform=standardize table.yaml
printf 'a,b,label\n0.7,0.1,1\n0.2,0.9,0\n' >more.csv
both "files for validation and test" --set data.split=null --set data.split_shuffle=false --set data.validation=more.csv \
	--set data.test=new.csv --set data.transform=min_max table.yaml

tap_exit 78 "a wrong value" "$QCNN" train --set data.streaming=sometimes table.yaml
tap_has err 'one of: auto, on, off' "has its choices"
mkfifo pipe.csv
exec 3<>pipe.csv
cat samples.csv >&3
tap_exit 66 "a pipe cannot be streamed" "$QCNN" train --set data.streaming=on --set data.train=pipe.csv table.yaml
tap_has err 'it is no regular file' "says so"
exec 3>&-
TMPDIR=/none tap_exit 73 "no folder for temporary files" "$QCNN" train --set data.streaming=on table.yaml
tap_has err 'TMPDIR names another folder' "says what to do"
tap_is "$(ls tmp)" "" "no temporary file is left"
sed '4s/.*/0.5,x,1/' samples.csv >slip.csv
tap_exit 65 "a slip in a streamed file" "$QCNN" train --set data.streaming=on --set data.train=slip.csv table.yaml
tap_has err 'slip.csv:4:5' "has its place"
tap_done
