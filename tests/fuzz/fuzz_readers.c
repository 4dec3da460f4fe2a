/* SPDX-License-Identifier: Apache-2.0
 * Bytes of a fuzzer as each kind of file that the program reads: nothing may be read beyond them, and what is read must be the
 * same when it is written and read again. `make check-fuzz` runs it, with libFuzzer of clang; FUZZ_READER chooses the reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/configuration.h"
#include "compiler/compile.h"
#include "compiler/draw/draw.h"
#include "compiler/export/openqasm.h"
#include "compiler/import/qsim.h"
#include "runtime/base/profile/profile.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/data/format/idx.h"
#include "runtime/data/format/npz.h"
#include "runtime/exec/statevector/backend.h"
#include "runtime/log/history.h"
#include "runtime/train/weights/weights_file.h"

/* Nothing is computed: the kernels, which take clang minutes, are not linked. */
const struct backend backend_cpu = { .ntarget = 0 };

static void must(bool good)
{
	if (!good)
		abort();
}

/* ---- programs ---- */

static void check_bytecode(const struct program *p)
{
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	struct program *q = NULL;
	struct err e;

	program_write(p, &bytes);
	must(!program_read(bytes.data, bytes.len, &q, &e));
	program_write(q, &again);
	must(bytes.len == again.len && !memcmp(bytes.data, again.data, bytes.len)
		&& program_same(p, q));
	program_free(q);
	buf_release(&again);
	buf_release(&bytes);
}

/* Drawings and circuits of any program are made or refused. */
static void check_texts(const struct program *p)
{
	const struct draw_options o = { .width = 80 };
	double *weight = calloc(p->nweight + 1, sizeof *weight);
	struct buf b = BUF_INIT;
	struct err e;

	if (p->nexpr < 10000) {
		draw_text(p, &o, &b, &e);
		draw_svg(p, &o, &b, &e);
		draw_json(p, &o, &b, &e);
	}
	program_init_weights(p, 1, 0, weight);
	model_print(p, weight, &b, &e);
	openqasm_print(p, weight, OPENQASM_3, &b, &e);
	buf_release(&b);
	free(weight);
}

typedef struct program *(*read_fn)(struct diags *d, uint32_t file);

static struct program *read_text(read_fn read, const char *name, const char *text, size_t len)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	int file = source_add(s, name, text, len);
	struct program *p = read(d, (uint32_t)file);
	struct buf b = BUF_INIT;

	must((p != NULL) == !diags_errors(d));
	diags_print(d, DIAG_HUMAN, true, &b);
	diags_print(d, DIAG_JSON, false, &b);
	buf_release(&b);
	diags_free(d);
	source_set_free(s);
	return p;
}

static void check_text(read_fn read, const char *name, const uint8_t *bytes, size_t len)
{
	struct program *p = read_text(read, name, (const char *)bytes, len), *again;
	struct buf text = BUF_INIT;

	if (!p)
		return;
	check_bytecode(p);
	check_texts(p);
	asm_print(p, &text);
	again = read_text(asm_read, "again.asm", text.data, text.len);
	must(again && program_same(p, again));
	program_free(again);
	buf_release(&text);
	program_free(p);
}

static struct program *read_model(struct diags *d, uint32_t file)
{
	struct ast *t = lang_parse(d, file, &(struct lang_options){ 0 });
	struct program *p;

	lang_resolve(t, d);
	p = compile_tree(t, d, &(struct compile_options){ .whole = true });
	ast_free(t);
	return p;
}

static struct program *read_qsim(struct diags *d, uint32_t file)
{
	return qsim_read(d, file, &(struct compile_options){ 0 });
}

static void fuzz_model(const uint8_t *p, size_t len)
{
	check_text(read_model, "fuzz.qcnn", p, len);
}

static void fuzz_openqasm(const uint8_t *p, size_t len)
{
	check_text(read_model, "fuzz.qasm", p, len);
}

static void fuzz_asm(const uint8_t *p, size_t len) { check_text(asm_read, "fuzz.asm", p, len); }

static void fuzz_qsim(const uint8_t *p, size_t len) { check_text(read_qsim, "fuzz.txt", p, len); }

/* A copy with the digest that belongs to it, or a change would be found by the digest alone. */
static void fuzz_bytecode(const uint8_t *bytes, size_t len)
{
	struct program *p = NULL;
	struct buf b = BUF_INIT;
	struct err e;

	buf_add(&b, bytes, len);
	if (len >= SHA256_BYTES)
		sha256_of(b.data, len - SHA256_BYTES, (uint8_t *)b.data + len - SHA256_BYTES);
	if (!program_read(b.data, len, &p, &e)) {
		check_bytecode(p);
		check_texts(p);
		program_free(p);
	}
	buf_release(&b);
}

/* ---- configurations ---- */

static void fuzz_config(const uint8_t *bytes, size_t len)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	int file = source_add(s, "fuzz.yaml", (const char *)bytes, len);
	struct config *c = config_read((uint32_t)file, NULL, 0, d);
	struct buf b = BUF_INIT;

	if (c && !diags_errors(d))
		config_print(c, &b);
	diags_print(d, DIAG_HUMAN, true, &b);
	config_free(c);
	buf_release(&b);
	diags_free(d);
	source_set_free(s);
}

/* ---- numbers ---- */

/* A copy with the digest that belongs to it. */
static void fuzz_weights(const uint8_t *bytes, size_t len)
{
	struct weights *w = NULL;
	struct buf b = BUF_INIT;
	struct err e;
	char hex[SHA256_HEX + 1];

	buf_add(&b, bytes, len);
	size_t at = len > 8 ? weights_digest_place(b.data + 8, len - 8) : 0;
	if (at) {
		struct file_part whole = { b.data, len };

		weights_digest(&(struct file_parts){ .part = &whole,
				       .npart = 1,
				       .seal_at = at + 8,
				       .seal_len = SHA256_HEX },
			hex);
		memcpy(b.data + at + 8, hex, SHA256_HEX);
	}
	if (!weights_parse(b.data, len, &w, &e))
		weights_free(w);
	buf_release(&b);
}

static void fuzz_npy(const uint8_t *bytes, size_t len)
{
	struct array a = { 0 };
	struct err e;

	if (!npy_parse(bytes, len, &a, &e))
		array_free(&a);
}

static void fuzz_npz(const uint8_t *bytes, size_t len)
{
	struct npz z = { 0 };
	struct err e;

	if (!npz_parse(bytes, len, &z, &e))
		npz_free(&z);
}

static void fuzz_idx(const uint8_t *bytes, size_t len)
{
	struct idx a;
	struct err e;
	double sum = 0;

	if (!idx_parse(bytes, len, &a, &e))
		for (uint64_t i = 0; i < a.count; i++)
			sum += idx_value(&a, i);
}

/* Some are read from files: it is named after the ending, and removed by the caller. */
static void make_file(const uint8_t *bytes, size_t len, const char *ending, char path[64])
{
	snprintf(path, 64, "/dev/shm/fuzz-%d.%s", (int)getpid(), ending);
	FILE *f = fopen(path, "wb");
	must(f && fwrite(bytes, 1, len, f) == len && !fclose(f));
}

static void fuzz_csv(const uint8_t *bytes, size_t len)
{
	const struct input_want want = { .name = "x", .count = 2, .ndim = 1, .dim = { 2 } };
	struct read_options o = { .want = &want, .nwant = 1 };
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	char path[64];
	struct dataset *set = NULL;
	struct err e;

	make_file(bytes, len, "csv", path);
	for (unsigned k = 0; k < 2; k++, o.streamed = true)
		if (!dataset_read(path, &o, d, &set, &e))
			dataset_free(set);
	unlink(path);
	diags_free(d);
	source_set_free(s);
}

/* The file of an observable or a gate, which the model names by %s. */
static void check_named(const char *model, const uint8_t *bytes, size_t len)
{
	struct buf text = BUF_INIT;
	char path[64];

	make_file(bytes, len, "txt", path);
	buf_printf(&text, model, path);
	check_text(read_model, "fuzz.qcnn", (const uint8_t *)text.data, text.len);
	unlink(path);
	buf_release(&text);
}

static void fuzz_pauli_sum(const uint8_t *bytes, size_t len)
{
	check_named("qubit[8] q; observe pauli_sum(\"%s\", q);", bytes, len);
}

static void fuzz_hermitian(const uint8_t *bytes, size_t len)
{
	check_named("qubit[2] q; observe hermitian(\"%s\", q);", bytes, len);
}

static void fuzz_gate(const uint8_t *bytes, size_t len)
{
	check_named("qubit[2] q; gate g a, b = \"%s\"; g q[0], q[1]; observe z(q);", bytes, len);
}

static void fuzz_profile(const uint8_t *bytes, size_t len)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct profile *p = NULL, *q = NULL;
	struct err e;

	if (profile_read_json((const char *)bytes, len, &p, &e))
		return;
	profile_write_json(p, &text);
	must(!profile_read_json(text.data, text.len, &q, &e));
	profile_write_json(q, &again);
	must(text.len == again.len && !memcmp(text.data, again.data, text.len));
	profile_free(q);
	profile_free(p);
	buf_release(&again);
	buf_release(&text);
}

static void fuzz_transform(const uint8_t *bytes, size_t len)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct transform t, u;
	struct err e;

	if (transform_parse((const char *)bytes, len, &t, &e))
		return;
	transform_format(&t, &text);
	must(!transform_parse(text.data, text.len, &u, &e));
	transform_format(&u, &again);
	must(text.len == again.len && !memcmp(text.data, again.data, text.len));
	transform_release(&u);
	transform_release(&t);
	buf_release(&again);
	buf_release(&text);
}

static void fuzz_history(const uint8_t *bytes, size_t len)
{
	struct history h;

	history_parse((const char *)bytes, len, &h);
	history_best(&h, 1);
	history_release(&h);
}

static const struct {
	const char *name;
	void (*fuzz)(const uint8_t *p, size_t len);
} readers[] = {
	{ "model", fuzz_model },
	{ "openqasm", fuzz_openqasm },
	{ "asm", fuzz_asm },
	{ "bytecode", fuzz_bytecode },
	{ "qsim", fuzz_qsim },
	{ "config", fuzz_config },
	{ "weights", fuzz_weights },
	{ "npy", fuzz_npy },
	{ "npz", fuzz_npz },
	{ "idx", fuzz_idx },
	{ "csv", fuzz_csv },
	{ "pauli_sum", fuzz_pauli_sum },
	{ "hermitian", fuzz_hermitian },
	{ "gate", fuzz_gate },
	{ "profile", fuzz_profile },
	{ "transform", fuzz_transform },
	{ "history", fuzz_history },
};

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static int chosen = -1;

	for (int k = 0; chosen < 0; k++)
		if (!strcmp(readers[k].name, getenv("FUZZ_READER")))
			chosen = k;
	readers[chosen].fuzz(p, len);
	return 0;
}

/* FUZZ_READER=list prints the readers. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_READER");
	bool known = false;

	(void)argc;
	(void)argv;
	for (size_t k = 0; k < sizeof readers / sizeof *readers; k++) {
		known |= name && !strcmp(name, readers[k].name);
		if (name && !strcmp(name, "list"))
			puts(readers[k].name);
	}
	if (!known)
		exit(!name || strcmp(name, "list"));
	return 0;
}
