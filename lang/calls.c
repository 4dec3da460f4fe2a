/* SPDX-License-Identifier: Apache-2.0
 * Calls of gates, blocks and circuits: the definition that is called, and the number and kind of its arguments. */
#include "lang/resolve.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- signatures ---- */

/* "rotate(float[3] t) a", as written, blanks squeezed. */
static void add_signature(struct resolver *r, struct buf *b, const struct node *decl)
{
	const char *text = source_text(diags_sources(r->diags), decl->name_span.file, NULL);
	uint32_t end = decl->c ? decl->c->span.begin : decl->list.v[decl->list.n - 1]->span.end;

	for (uint32_t i = decl->name_span.begin; i < end; i++) {
		if (!isspace((unsigned char)text[i]))
			buf_char(b, text[i]);
		else if (i + 1 < end && !isspace((unsigned char)text[i + 1]))
			buf_char(b, ' ');
	}
}

static void show_signature(struct resolver *r, struct diag *g, const struct node *decl)
{
	buf_auto b = BUF_INIT;

	add_signature(r, &b, decl);
	diag_second(g, decl->name_span, "declared here");
	diag_note(g, "signature: `%s`", b.data);
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static void gate_signature(struct diag *g, const char *name, const struct gate_row *row, uint64_t nqubit)
{
	static const char *const angle[] = { "", "(a)", "(a, b)", "(a, b, c)", "(a, b, c, d)" };
	static const char *const qubit[] = { "", " p", " p, q", " p, q, r", " p, q, r, s" };

	if (row->nangle <= 4 && nqubit <= 4)
		diag_note(g, "signature: `%s%s%s`: %s", name, angle[row->nangle], qubit[nqubit], row->doc);
}

/* ---- arguments ---- */

static unsigned kinds_of_formal(const struct node *f)
{
	bool is_int = f->op == AST_TYPE_INT;

	if (f->a)
		return is_int ? KIND_BIT(KIND_INT_ARRAY) : KINDS_ARRAY;
	return is_int ? KIND_BIT(KIND_INT) : KINDS_NUMBER;
}

static void fit_argument(struct resolver *r, struct node *arg, const struct node *f)
{
	static const char *const wanted[2][2] = { { "a number", "an array" }, { "an int", "an int array" } };
	char role[LANG_IDENT_MAX + 32];

	snprintf(role, sizeof role, "the argument for `%s`", f->name);
	if (!kinds_require(r, arg, kinds_of_formal(f), role, wanted[f->op == AST_TYPE_INT][f->a != NULL]))
		return;
	if (f->ndim && arg->ndim && f->ndim != arg->ndim) {
		struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, arg->span,
			"%s must have %u dimension%s", role, f->ndim, plural(f->ndim));
		diag_label(g, "this has %u", arg->ndim);
		diag_second(g, f->name_span, "declared here");
	}
}

static void fit_arguments(struct resolver *r, struct node *n, const struct node *decl)
{
	uint32_t want = ast_count_angles(decl);

	if (n->args.n != want) {
		struct diag *g = diag_at(r->diags, DIAG_CALL_ARGUMENTS,
			n->kind == NODE_INSTANCE ? n->callee_span : n->name_span,
			"wrong number of arguments for `%s`", decl->name);

		diag_label(g, "takes %u argument%s, here %s %u", want, plural(want),
			n->args.n == 1 ? "is" : "are", n->args.n);
		show_signature(r, g, decl);
		return;
	}
	for (uint32_t i = 0; i < want; i++)
		fit_argument(r, n->args.v[i], decl->list.v[i]);
}

/* ---- qubits ---- */

/* Controls that the modifiers add; false when their number is not in the text. */
static bool count_controls(struct resolver *r, struct node *n, uint64_t *ncontrol)
{
	bool known = true;

	*ncontrol = 0;
	for (uint32_t i = 0; i < n->nmodifier; i++) {
		struct modifier *m = &n->modifier[i];

		if (m->kind == MODIFIER_POW)
			kinds_check(r, m->arg, KINDS_NUMBER, "an exponent", "a number");
		else
			kinds_check_int(r, m->arg, "a number of controls");
		if (m->kind != MODIFIER_CTRL && m->kind != MODIFIER_NEGCTRL)
			continue;
		if (m->arg && m->arg->kind != NODE_INT)
			known = false;
		else
			*ncontrol += m->arg ? (uint64_t)m->arg->value.i : 1;
	}
	return known;
}

static void wrong_qubits(struct resolver *r, struct node *n, const struct gate_row *row, uint64_t own, uint64_t want)
{
	struct diag *g = diag_at(r->diags, DIAG_CALL_QUBITS, n->name_span, "wrong number of qubits for `%s`", n->name);

	if (n->a)
		diag_label(g, "acts on %llu qubits, but each element of this list is one qubit", (unsigned long long)want);
	else
		diag_label(g, "%s %llu %s%s, here %s %u",
			ast_takes_lists(n->decl) ? "takes" : "acts on", (unsigned long long)want,
			ast_takes_lists(n->decl) ? "operand" : "qubit", plural(want),
			n->list.n == 1 ? "is" : "are", n->list.n);
	if (ast_takes_lists(n->decl) && !n->a) {
		diag_help(g,
			"several qubits are one operand where they are written `q[0:2]` or `q[{0,2}]`");
	} else if (n->a) {
		diag_second(g, n->a->span, "a list of qubits");
		if (want == 2)
			diag_help(g,
				"pairs are made by `ring(w)`, `chain(w)`, `cycle(w)`, `zip(v, w)`");
		else if (want > 2)
			diag_help(g,
				"tuples are made by `windows(w, %llu, 1)`, or written `{(a, b, ...)}`",
				(unsigned long long)want);
	} else if (want == 1 && n->list.n > 1) {
		diag_help(g,
			"it acts on each of several qubits where these are written `q[0:2]` or `q[{0,2}]`");
	}
	if (own != want)
		diag_note(g, "%llu of them as controls of the modifiers", (unsigned long long)(want - own));
	if (n->decl)
		show_signature(r, g, n->decl);
	else if (row)
		gate_signature(g, n->name, row, own);
}

/* own: qubits of the callee itself. */
static void check_qubits(struct resolver *r, struct node *n, const struct gate_row *row, uint64_t own)
{
	uint64_t ncontrol;
	bool known = count_controls(r, n, &ncontrol);
	uint64_t want = own + ncontrol;

	if (!known)
		return;
	if (n->a ? n->a->rank == KIND_QUBITS && want != 1 : n->list.n != want)
		wrong_qubits(r, n, row, own, want);
}

static void resolve_operands(struct resolver *r, struct node *n)
{
	kinds_check(r, n->a, KINDS_WIRES, "what stands behind `on`", "a list of qubits or of tuples");
	kinds_list(r, &n->list);
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *o = n->list.v[i];

		if (o->rank == KIND_TUPLES) {
			struct diag *g = diag_at(r->diags, DIAG_WRONG_KIND, o->span, "an operand must be qubits");

			diag_label(g, "this is a list of tuples");
			diag_help(g, "write `%s on ...` to act on each tuple", n->name);
		} else {
			kinds_require(r, o, KIND_BIT(KIND_QUBITS), "an operand", "qubits");
		}
	}
}

/* ---- the callee ---- */

static void check_traces(struct resolver *r, struct node *n)
{
	struct diag *g;

	if (!n->decl->op)
		return;
	if (r->def && r->def->kind == NODE_BLOCK_DEF)
		r->def->op = 1;
	if (n->nmodifier) {
		g = diag_at(r->diags, DIAG_TRACES, n->span, "`%s` discards or measures and cannot be modified", n->name);
		diag_second(g, n->modifier[0].span, "this modifier needs a reversible block");
		diag_second(g, n->decl->name_span, "declared here");
	}
	if (r->context == IN_GATE || r->context == IN_MEASURED) {
		g = diag_at(r->diags, DIAG_TRACES, n->name_span, "`%s` discards or measures and cannot stand %s", n->name,
			r->context == IN_GATE ? "in a gate" : "under `if (measure ...)`");
		diag_second(g, n->decl->name_span, "declared here");
	}
}

static void call_opaque(struct resolver *r, struct node *n)
{
	struct diag *g = diag_at(r->diags, DIAG_QASM_PART, n->name_span, "`%s` is opaque", n->name);
	uint64_t ncontrol;

	diag_label(g, "nothing says what this gate does");
	diag_second(g, n->decl->name_span, "declared here");
	diag_help(g, "define it: `gate %s ... { ... }`", n->name);
	count_controls(r, n, &ncontrol);
}

static void call_declared(struct resolver *r, struct node *n)
{
	if (n->decl->kind == NODE_OPAQUE) {
		call_opaque(r, n);
		return;
	}
	fit_arguments(r, n, n->decl);
	check_qubits(r, n, NULL, n->decl->list.n - ast_count_angles(n->decl));
	check_traces(r, n);
}

static void call_gate(struct resolver *r, struct node *n, const struct gate_row *row)
{
	uint64_t nqubit = row->ncontrol + gate_ntarget(row->id, n->word);

	n->gate = row->id;
	if (row->id == GATE_GPHASE && r->tree->dialect == DIALECT_QASM2 && n->list.n == 1)
		n->list.n = 0; /* PennyLane writes a qubit behind it */
	if (n->args.n != row->nangle) {
		struct diag *g = diag_at(r->diags, DIAG_CALL_ARGUMENTS, n->name_span,
			"wrong number of angles for `%s`", n->name);
		if (row->nangle)
			diag_label(g, "takes %u angle%s, here %s %u", row->nangle, plural(row->nangle),
				n->args.n == 1 ? "is" : "are", n->args.n);
		else
			diag_label(g, "takes no angle");
		if (n->args.n && !n->list.n)
			diag_help(g, "qubits stand behind the name, not between parentheses");
		gate_signature(g, n->name, row, nqubit);
	} else {
		for (uint32_t i = 0; i < n->args.n; i++)
			kinds_require(r, n->args.v[i], KINDS_NUMBER, "an angle", "a number");
	}
	check_qubits(r, n, row, nqubit);
}

static void call_amplitudes(struct resolver *r, struct node *n)
{
	struct diag *g = NULL;

	n->builtin = CALL_AMPLITUDES;
	if (n->nmodifier || n->a)
		g = diag_at(r->diags, DIAG_TRACES, n->span, "`amplitudes` sets a state and cannot be %s",
			n->a ? "applied by `on`" : "modified");
	else if (n->args.n != 1 && !n->text)
		g = diag_at(r->diags, DIAG_CALL_ARGUMENTS, n->name_span, "wrong number of arguments for `amplitudes`");
	else if (n->list.n != 1)
		g = diag_at(r->diags, DIAG_CALL_QUBITS, n->name_span, "wrong number of operands for `amplitudes`");
	else if (!n->text)
		kinds_require(r, n->args.v[0], KINDS_ARRAY | KIND_BIT(KIND_STATE), "the argument of `amplitudes`",
			"an input, a slice of one, or an array");
	if (g)
		diag_help(g, "write `amplitudes(x) w;`, with `++` if w is of several parts");
}

static void evolve_operands(struct resolver *r, struct node *n, uint64_t ncontrol)
{
	if (!n->a && n->list.n == ncontrol)
		return;
	struct diag *g = diag_at(r->diags, DIAG_CALL_QUBITS, n->name_span,
		"`evolve` acts on the qubits of its observable");

	diag_label(g, n->a ? "`on` names others" : "operands are controls of modifiers, %llu of them",
		(unsigned long long)ncontrol);
	diag_help(g, "write `evolve(z(a)*z(b), t);`, or `ctrl @ evolve(z(a)*z(b), t) c;`");
}

static void call_evolve(struct resolver *r, struct node *n, bool known, uint64_t ncontrol)
{
	n->builtin = CALL_EVOLVE;
	if (n->args.n != 2 && n->args.n != 3) {
		struct diag *g = diag_at(r->diags, DIAG_CALL_ARGUMENTS, n->name_span,
			"wrong number of arguments for `evolve`");
		diag_help(g,
			"write `evolve(h, t);` with an observable and a time, or `evolve(h, t, n);` with a number of steps");
		return;
	}
	for (uint32_t k = 0; k < n->args.n; k++)
		if (n->args.v[k]->kind == NODE_EACH)
			diag_help(diag_at(r->diags, DIAG_WRONG_KIND, n->args.v[k]->span,
					  "`evolve` has no list for `each`"),
				"write a loop: `for int i in [0:n-1] { evolve(..., t[i]); }`");
	kinds_require(r, n->args.v[0], KIND_BIT(KIND_OBSERVABLE), "the first argument of `evolve`",
		"an observable");
	kinds_require(r, n->args.v[1], KINDS_NUMBER, "a time", "a number");
	if (n->args.n == 3)
		kinds_require(r, n->args.v[2], KIND_BIT(KIND_INT), "a number of steps", "an int");
	if (known || n->a)
		evolve_operands(r, n, ncontrol);
}

#define NOISE \
	"noise channels are `depolarizing`, `bit_flip`, `phase_flip`, `bit_phase_flip`, `pauli_channel`, `phase_damping` and " \
	"`amplitude_damping`; others are made of these, see NOISE CHANNELS in qcnn-lang(7)"
#define EVOLVE \
	"write `evolve(z(a)*x(b)*y(c)*y(d), t/2);`, which is exp(-i t/2 zxyy); a sum gives the product over its terms"
#define MATRIX \
	"declare a gate by its matrix, `gate v a, b = \"v.txt\";`, as numpy.savetxt writes it"
#define STATE "write `amplitudes(x) q;` before the first gate, with x an input or a list of numbers"

/* What there is instead of that which other languages call by names that begin so. */
static const char *instead_of(const char *name)
{
	static const struct {
		const char *word, *help;
	} row[] = {
		{ "depolar", NOISE },
		{ "bit_flip", NOISE },
		{ "bitflip", NOISE },
		{ "phase_flip", NOISE },
		{ "phaseflip", NOISE },
		{ "amplitude_damp", NOISE },
		{ "amplitudedamp", NOISE },
		{ "phase_damp", NOISE },
		{ "phasedamp", NOISE },
		{ "pauli_channel", NOISE },
		{ "kraus", NOISE },
		{ "thermal_relax", NOISE },
		{ "thermalrelax", NOISE },
		{ "generalized_amplitude_damp", NOISE },
		{ "generalizedamplitudedamp", NOISE },
		{ "noise", NOISE },
		{ "qubitunitary", MATRIX },
		{ "unitary", MATRIX },
		{ "matrixgate", MATRIX },
		{ "controlledqubitunitary", MATRIX },
		{ "diagonalqubitunitary", MATRIX },
		{ "initialize", STATE },
		{ "stateprep", STATE },
		{ "mottonen", STATE },
		{ "amplitudeembedding", STATE },
		{ "multirz",
			"on two and three qubits it is `rzz` and `rzzz`; on more, write `evolve(z(a)*z(b)*z(c)*z(d), t/2);`" },
		{ "paulirot", EVOLVE },
		{ "paulievolution", EVOLVE },
		{ "trotter", EVOLVE },
		{ "approxtimeevolution", EVOLVE },
		{ "commutingevolution", EVOLVE },
		{ "fermionicdouble", EVOLVE },
		{ "fermionicsingle", EVOLVE },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (!strncasecmp(name, row[i].word, strlen(row[i].word)))
			return row[i].help;
	return NULL;
}
#undef NOISE
#undef EVOLVE
#undef MATRIX
#undef STATE

static void unknown_callee(struct resolver *r, struct node *n)
{
	static const char *const calls[] = { "amplitudes", "evolve" }; /* called like gates, but none */
	const char *const *channels;
	size_t nchannel = r->tree->dialect == DIALECT_MODEL ? channel_names(&channels) : 0;
	const char *const *names;
	size_t nname = gate_names(&names);
	const char *instead = instead_of(n->name);
	struct diag *g;

	if (r->def && !strcmp(r->def->name, n->name)) {
		g = diag_at(r->diags, DIAG_RECURSION, n->name_span, "`%s` calls itself", n->name);
		diag_label(g, "a %s is known behind its own body", node_kind_text(r->def->kind));
		diag_second(g, r->def->name_span, "declared here");
		if (r->tree->dialect != DIALECT_QASM2)
			diag_help(g, "write a loop: `for int i in [0:n-1] { ... }`");
		return;
	}
	g = diag_at(r->diags, DIAG_UNKNOWN_GATE, n->name_span, "unknown gate `%s`", n->name);
	diag_label(g, "no gate or block of this name");
	if (gate_is_step(n->name)) {
		if (!strncmp(n->name, "pow_", 4))
			diag_help(g, "a power is written `pow(t) @ %s ...;`", n->name + 4);
		else
			diag_help(g, "a global phase is written `gphase(a);`");
		return;
	}
	if (diag_nearest(n->name, calls, 2))
		diag_help(g, "did you mean `%s`?", diag_nearest(n->name, calls, 2));
	else if (nchannel && diag_nearest(n->name, channels, nchannel))
		diag_help(g, "did you mean `%s`?", diag_nearest(n->name, channels, nchannel));
	else if (instead)
		diag_help(g, "%s", instead);
	else
		scope_suggest(r, g, SPACE_CALL, n->name, names, nname);
	if (builtin_find(n->name))
		diag_note(g, "`%s` is a function; it stands in an expression", n->name);
}

/* In a gate of OpenQASM its own name never means the built-in one. */
static bool calls_itself(const struct resolver *r, const struct node *n)
{
	return r->tree->dialect != DIALECT_MODEL && r->def && !strcmp(r->def->name, n->name);
}

void calls_call(struct resolver *r, struct node *n)
{
	struct node *hidden;
	uint64_t ncontrol;
	const char *of;

	kinds_list(r, &n->args);
	resolve_operands(r, n);
	n->decl = scope_find(r, SPACE_CALL, n->name, &hidden);
	const struct gate_row *row =
		n->decl || calls_itself(r, n) ? NULL : gate_find(n->name, &n->word, &of);
	if (n->text && (n->decl || row)) {
		diag_at(r->diags, DIAG_CALL_ARGUMENTS, n->callee_span, "`%s` takes no text", n->name);
		return;
	}
	if (n->decl) {
		call_declared(r, n);
		return;
	}
	if (row && !(row->flags & GATE_STEP)) {
		call_gate(r, n, row);
		return;
	}
	enum channel channel =
		r->tree->dialect == DIALECT_MODEL ? channel_find(n->name) : CHANNEL_NONE;
	if (channel) {
		calls_channel(r, n, channel);
		return;
	}
	bool known = count_controls(r, n, &ncontrol);
	if (!strcmp(n->name, "amplitudes"))
		call_amplitudes(r, n);
	else if (!strcmp(n->name, "evolve"))
		call_evolve(r, n, known, ncontrol);
	else if (!scope_dropped(r, n->name))
		unknown_callee(r, n);
}

/* ---- the head ---- */

static void same_circuit(struct resolver *r, struct node *head, struct node *n)
{
	for (uint32_t i = 0; head->list.v[i] != n; i++) {
		struct node *other = head->list.v[i];

		if (other->kind != NODE_INSTANCE || strcmp(other->name, n->name) || !strcmp(other->text, n->text))
			continue;
		struct diag *g = diag_at(r->diags, DIAG_DUPLICATE_NAME, n->name_span,
			"`%s` is an instance of `%s` already", n->name, other->text);
		diag_second(g, other->name_span, "first named here");
		diag_note(g, "a name used again means the same weights, so the circuit must be the same");
		return;
	}
}

static void instance(struct resolver *r, struct node *head, struct node *n)
{
	struct node *hidden;

	kinds_list(r, &n->args);
	n->decl = scope_find(r, SPACE_CIRCUIT, n->text, &hidden);
	if (n->decl) {
		fit_arguments(r, n, n->decl);
		same_circuit(r, head, n);
		return;
	}
	if (scope_dropped(r, n->text))
		return;
	struct diag *g = diag_at(r->diags, DIAG_UNKNOWN_CIRCUIT, n->callee_span,
		"unknown circuit `%s`", n->text);
	diag_label(g, "no circuit of this name is declared above");
	scope_suggest(r, g, SPACE_CIRCUIT, n->text, NULL, 0);
}

static void only_circuit(struct resolver *r, struct node *n)
{
	struct diag *g;

	if (r->ncircuit > 1) {
		g = diag_at(r->diags, DIAG_SEVERAL_CIRCUITS, n->name_span, "this head does not say which circuits it joins");
		diag_label(g, "the file has %u", r->ncircuit);
		diag_second(g, r->circuit->name_span, "the first one");
		diag_help(g, "write `head (%s a, ...) { }`", r->circuit->name);
	} else if (r->ncircuit && r->circuit->list.n) {
		g = diag_at(r->diags, DIAG_CALL_ARGUMENTS, n->name_span, "`%s` needs arguments", r->circuit->name);
		diag_help(g, "write `head (%s(...) a) { }`", r->circuit->name);
		show_signature(r, g, r->circuit);
	}
}

void calls_head(struct resolver *r, struct node *n)
{
	unsigned ninstance = 0;

	if (r->head) {
		struct diag *g =
			diag_at(r->diags, DIAG_DUPLICATE_NAME, n->name_span, "a model has one head");
		diag_second(g, r->head->name_span, "the first one");
		diag_help(g, "one head lists all layers: `head { dense(4, relu); dense(1); }`");
	}
	r->head = n;
	r->late = r->tree->ndecl;
	for (uint32_t i = 0; i < n->list.n; i++) {
		struct node *part = n->list.v[i];

		if (part->kind == NODE_INSTANCE) {
			instance(r, n, part);
			ninstance++;
		} else {
			kinds_check_int(r, part->a, "a number of units");
		}
	}
	r->late = 0;
	if (!ninstance)
		only_circuit(r, n);
}
