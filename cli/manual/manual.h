/* SPDX-License-Identifier: Apache-2.0
 * The helper that writes manual pages: sections from the program's tables, and the mdoc they are made of.
 *
 * A section appends to `out`; its argument is what the template's line says behind the name, "" where nothing:
 * the command of `options`, `synopsis` and `examples` ("": the program itself), the section of `keys`, the key that
 * chooses from `rows`. A list
 * appends its items, between the macros that begin it as said here and end it. */
#pragma once

#include "runtime/base/buf.h"

/* clang-format off */
#define MANUAL_SECTIONS(SECTION, LIST) \
	SECTION(options) \
	SECTION(synopsis) \
	LIST(commands, "-tag -width explain") \
	SECTION(examples) \
	SECTION(exit) \
	LIST(diagnostics, "-tag -width Q0000") \
	SECTION(keys) \
	SECTION(optimizers) \
	SECTION(rows) \
	LIST(regularizers, "-tag -width Ds") \
	LIST(gates, "-tag -width Ds") \
	LIST(channels, "-tag -width Ds") \
	LIST(channel_aliases, "-column -compact asymmetric_depolarize asymmetric_depolarize") \
	LIST(messages, "-column \"CHALLENGE\" \"99\" \"coordinator\" \"text\"") \
	LIST(launchers, "-tag -width local") \
	LIST(attachments, "-tag -width Kubernetes") \
	LIST(aliases, "-column -compact ControlledPhaseShift ControlledPhaseShift") \
	LIST(builtins, "-tag -width windows") \
	LIST(passes, "-tag -width Ds") \
	LIST(optimisations, "-tag -width Ds") \
	SECTION(parts) \
	SECTION(phases) \
	LIST(epoch, "-tag -width Ds -compact")
/* clang-format on */

#define SECTION(name) void section_##name(struct buf *out, const char *argument);
#define LIST(name, kind) void section_##name(struct buf *out);
MANUAL_SECTIONS(SECTION, LIST)
#undef LIST
#undef SECTION

/* Text lines: wrapped, each sentence on a line of its own, no line taken for a macro. */
void mdoc_text(struct buf *out, const char *s);
/* A row's phrase as a sentence. */
void mdoc_sentence(struct buf *out, const char *phrase);
/* One argument of a macro, never taken for a macro itself. */
void mdoc_argument(struct buf *out, const char *word);
/* An item of a list of commands or keys, with a phrase about it. */
void mdoc_item(struct buf *out, const char *name, const char *doc);
