# SPDX-License-Identifier: Apache-2.0
# What commands read: an output never replaces it, `-` is the standard input, byte order marks and UTF-16.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"

make_files
$QCNN train -q -o w.bin table.yaml 2>/dev/null
cp samples.csv v.csv
ln -s v.csv link.csv
ln v.csv hard.csv

# refused INPUT WORDS...: exit 2, the file keeps its contents, the message says why.
refused() {
	file=$1
	shift
	cp "$file" before
	tap_exit 2 "an input is not replaced: $*" "$QCNN" "$@"
	tap_has err 'which would be lost; name another file for the output' "$1: the message says so"
	tap_same "$file" before "$1: the input is as it was"
}

refused v.csv infer --data v.csv -o v.csv w.bin
refused v.csv infer --data v.csv -o ./v.csv w.bin
refused v.csv infer --data link.csv -o v.csv w.bin
tap_has err 'the output v.csv is the same file as the input link.csv' 'both names are given'
refused v.csv infer --data v.csv -o hard.csv w.bin
refused two.qcnn draw --svg two.qcnn two.qcnn
refused table.yaml draw --svg table.yaml table.yaml
refused two.qcnn draw --svg two.qcnn table.yaml
refused two.qcnn compile -o two.qcnn two.qcnn
refused new.csv run --data new.csv -f csv -o new.csv two.qcnn
refused table.yaml train --fresh -o table.yaml table.yaml
refused samples.csv train --fresh -o samples.csv table.yaml
refused w.bin train --fresh --set train.init.from=w.bin -o w.bin table.yaml
refused w.bin weights convert w.bin w.bin
refused two.qcnn bench --no-limits --circuit two.qcnn --plot two.qcnn
tap_is "$(wc -c <out)" 0 'bench refuses before it measures'

mkdir pair
$QCNN weights convert w.bin pair/w.json
refused pair/w.json weights convert -m table.yaml pair/w.json pair/../pair/w.json
tap_exit 0 'weights convert copies to .safetensors' "$QCNN" weights convert w.bin w.safetensors
tap_same w.safetensors w.bin 'to the same bytes'
tap_exit 0 'infer reads it' "$QCNN" infer w.safetensors
tap_exit 2 'a file without a model needs --model' "$QCNN" weights convert pair/w.json again.bin
tap_has err 'name the model with --model' 'and the message says so'

# Nor does the callback csv: training goes on without its file.
cp samples.csv before
tap_exit 0 'callback csv with the path of the data' "$QCNN" train --fresh --set "train.callbacks={csv: {path: $PWD/samples.csv}}" table.yaml
tap_has err 'samples.csv' 'says so'
tap_has err 'which would be lost' 'and why'
tap_same samples.csv before 'the data are as they were'
tap_exit 0 'callback checkpoint' "$QCNN" train --fresh --set "train.callbacks={checkpoint: {path: $PWD/samples.csv}}" table.yaml
tap_has err 'samples.csv' 'says so'
tap_has err 'which would be lost' 'and why'
tap_same samples.csv before 'the data are as they were'

# An output that was not read is replaced.
echo old >out.csv
tap_exit 0 'another output is replaced' "$QCNN" infer --data v.csv -o out.csv w.bin
tap_ok 'with new contents' grep -q sample out.csv

# ---- the standard input ----

# tap_stdin FILE NAME WORDS...: as tap_exit 0, with FILE through a pipe.
tap_stdin() {
	file=$1
	name=$2
	shift 2
	cat "$file" | "$QCNN" "$@" >out 2>err
	tap_result $? "$name" || sed 's/^/# /' err
}

tap_stdin two.qcnn 'check reads a model from -' check -
tap_stdin two.qcnn 'draw too' draw -
$QCNN run --data new.csv two.qcnn >wanted 2>/dev/null
tap_stdin two.qcnn 'run: the model' run --data new.csv -
tap_same out wanted 'with the same result'
tap_stdin new.csv 'run: the data' run --data - two.qcnn
tap_same out wanted 'with the same result'
$QCNN infer --data new.csv w.bin >wanted 2>/dev/null
tap_stdin new.csv 'infer: the data' infer --data - w.bin
tap_same out wanted 'with the same result'
tap_stdin w.bin 'infer: the weights' infer --data new.csv -
tap_same out wanted 'with the same result'
tap_stdin w.bin 'weights show' weights show -
tap_stdin w.bin 'weights convert' weights convert - piped.bin
tap_same piped.bin w.bin 'to the same bytes'
tap_stdin table.yaml 'config' config -
tap_stdin table.yaml 'train --dry-run' train --dry-run -
cat w.bin | "$QCNN" draw /dev/stdin >out 2>err
tap_is $? 0 'draw: weights through a pipe that has a path' || sed 's/^/# /' err
"$QCNN" compile -e bytecode -o two.qbc two.qcnn
tap_stdin two.qbc 'bytecode' check -
cat two.qcnn | "$QCNN" run --data - - >out 2>err
tap_is $? 2 'two inputs cannot both be the standard input'
tap_has err 'the standard input can be read only once' 'and the message says so'
printf 'qubit[2] q\n' | "$QCNN" check - >out 2>err
tap_has err '(standard input):1:' 'an error has its place in the standard input'
"$QCNN" infer --data - -o new.csv w.bin <new.csv >out 2>err
tap_is $? 2 'a redirected file is an input too'

# ---- encodings ----

printf '\357\273\277' >bom
cat bom table.yaml >marked.yaml
cat bom two.qcnn >marked.qcnn
tap_exit 0 'a configuration with a byte order mark' "$QCNN" config marked.yaml
"$QCNN" config table.yaml | sed s/table.yaml/marked.yaml/ >wanted
tap_same out wanted 'is the same configuration'
(cat bom; printf 'train: {epochz: 3}\n') >wrong.yaml
tap_exit 78 'with a fault' "$QCNN" config wrong.yaml
tap_has err 'wrong.yaml:1:' 'the place is right'
tap_exit 0 'a model with a byte order mark' "$QCNN" check marked.qcnn
for code in UTF-16 UTF-16LE UTF-16BE; do
	iconv -f UTF-8 -t $code table.yaml >wide.yaml
	iconv -f UTF-8 -t $code two.qcnn >wide.qcnn
	tap_exit 78 "a configuration in $code" "$QCNN" config wide.yaml
	tap_has err 'wide.yaml: the text is UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8' 'is named as such'
	tap_exit 65 "a model in $code" "$QCNN" check wide.qcnn
	tap_has err 'wide.qcnn: the text is UTF-16; save it as UTF-8, or: iconv -f UTF-16 -t UTF-8' 'is named as such'
done
tap_done
