/* SPDX-License-Identifier: Apache-2.0
 * The helper that writes manual pages: sections from the program's tables, and the mdoc they are made of.
 *
 * A section appends to `out`; its argument is what the template's line says behind the name, "" where nothing:
 * the command of `options`, `synopsis` and `examples` ("": the program itself), the section of `keys`. */
#ifndef QCNN_MANUAL_H
#define QCNN_MANUAL_H

#include "runtime/base/buf.h"

/* clang-format off */
#define MANUAL_SECTIONS(SECTION) \
	SECTION(options) \
	SECTION(synopsis) \
	SECTION(commands) \
	SECTION(examples) \
	SECTION(exit) \
	SECTION(diagnostics) \
	SECTION(keys) \
	SECTION(optimizers) \
	SECTION(losses) \
	SECTION(metrics) \
	SECTION(schedules) \
	SECTION(callbacks) \
	SECTION(regularizers) \
	SECTION(constraints) \
	SECTION(generators) \
	SECTION(transforms) \
	SECTION(gates) \
	SECTION(messages) \
	SECTION(launchers) \
	SECTION(attachments) \
	SECTION(aliases) \
	SECTION(builtins) \
	SECTION(passes) \
	SECTION(optimisations) \
	SECTION(parts) \
	SECTION(phases) \
	SECTION(epoch)
/* clang-format on */

#define SECTION(name) void section_##name(struct buf *out, const char *argument);
MANUAL_SECTIONS(SECTION)
#undef SECTION

/* Text lines: wrapped, each sentence on a line of its own, no line taken for a macro. */
void mdoc_text(struct buf *out, const char *s);
/* A row's phrase as a sentence. */
void mdoc_sentence(struct buf *out, const char *phrase);
/* One argument of a macro, never taken for a macro itself. */
void mdoc_argument(struct buf *out, const char *word);
/* An item of a list of commands or keys, with a phrase about it. */
void mdoc_item(struct buf *out, const char *name, const char *doc);

#endif
