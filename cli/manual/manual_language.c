/* SPDX-License-Identifier: Apache-2.0
 * Sections about the language: gates, builtins, and the passes of the compiler. */
#include "cli/manual/manual.h"

#include <string.h>

#include "compiler/compile.h"
#include "lang/channels.h"
#include "lang/gates.h"
#include "lang/builtins.h"

void section_gates(struct buf *out)
{
	/* As the rows stand, not by number. */
	static const enum gate groups[] = {
#define GATE(no, id, ...) GATE_##id,
#include "lang/gates.def"
#undef GATE
	};

	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		const struct gate_row *row = gate_row(groups[i]);

		if (row->flags & GATE_STEP)
			continue;
		buf_str(out, ".It Cm ");
		mdoc_argument(out, row->name);
		if (row->flags & GATE_WORD)
			buf_str(out, " No (family of words)");
		else
			buf_printf(out, " No (%u angle%s, %u control%s, %u target%s)", row->nangle, row->nangle == 1 ? "" : "s",
				row->ncontrol, row->ncontrol == 1 ? "" : "s", row->ntarget, row->ntarget == 1 ? "" : "s");
		buf_char(out, '\n');
		mdoc_sentence(out, row->doc);
	}
}

void section_aliases(struct buf *out)
{
	const char *const *names, *of;
	size_t n = gate_names(&names);
	uint8_t word;

	for (size_t i = 0; i < n; i++) {
		of = NULL;
		if (!gate_find(names[i], &word, &of) || !of || !strcmp(of, names[i]))
			continue;
		buf_str(out, ".It ");
		mdoc_argument(out, names[i]);
		buf_str(out, " Ta ");
		mdoc_argument(out, of);
		buf_char(out, '\n');
	}
}

void section_channels(struct buf *out)
{
	for (int i = 1; i < CHANNEL_COUNT; i++) {
		const struct channel_row *row = channel_row((enum channel)i);

		buf_printf(out, ".It Cm %s Ns (%s) No (%s)\n", row->name,
			row->nnumber == 1 ? "p" : "px, py, pz",
			row->nqubit == 1 ? "1 qubit" : "1 or 2 qubits");
		mdoc_sentence(out, row->doc);
	}
}

void section_channel_aliases(struct buf *out)
{
	const char *const *names;
	size_t n = channel_names(&names);

	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], channel_name_of(names[i])))
			buf_printf(out, ".It %s Ta %s\n", names[i], channel_name_of(names[i]));
}

void section_builtins(struct buf *out)
{
	for (int i = 1; i < BUILTIN_COUNT; i++) {
		const struct builtin_row *row = builtin_row((enum builtin)i);

		buf_str(out, ".It Cm ");
		mdoc_argument(out, row->name);
		buf_str(out, row->takes == TAKES_NUMBERS ? " No (w)\n" : "\n");
		mdoc_sentence(out, row->doc);
	}
}

void section_passes(struct buf *out)
{
	const struct pass_row *row;
	size_t n = compile_passes(&row);

	for (size_t i = 0; i < n; i++) {
		buf_printf(out, ".It Cm %s No (%c%s)\n", row[i].name, row[i].letter, row[i].optional ? ", optional" : "");
		mdoc_sentence(out, row[i].doc);
	}
}
