/* SPDX-License-Identifier: Apache-2.0
 * Configurations of runs, read again by the schema of this program. */
#include "cli/job/run_config.h"

#include <stdlib.h>
#include <string.h>

#include "cli/config/configuration.h"
#include "cli/job/record.h"
#include "runtime/base/system/folder.h"
#include "runtime/exec/evaluator.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

/* NULL where the text is no configuration of this program. */
static json_t *read_text(const char *text, size_t len, const struct config_resolved *r)
{
	struct diags *d = diags_new(source_set_new());
	int file = source_add(diags_sources(d), "config", text, len);
	struct config *config = file > 0 ? config_read((uint32_t)file, NULL, 0, d) : NULL;
	json_t *v = config && !diags_errors(d) ? config_json(config, SCOPE_RESULT, r) : NULL;

	config_free(config);
	diags_free_all(d);
	return v;
}

const char *run_config_method(const json_t *words)
{
	const char *method = json_string_value(json_object_get(words, "method"));

	return method ? method : method_name(METHOD_STATEVECTOR);
}

/* words: of a record's machine, or of a recorded configuration's section run. */
static struct config_resolved resolved_of(const json_t *words)
{
	return (struct config_resolved){ json_string_value(json_object_get(words, "device")),
		json_string_value(json_object_get(words, "isa")), run_config_method(words) };
}

json_t *run_config(const struct run_folder *f, const struct config_resolved *r)
{
	buf_auto text = BUF_INIT;
	json_t *v = NULL;

	if (!folder_read_in(&text, f->path, "config.yaml", CONFIG_BYTES_MAX, NULL))
		v = read_text(text.data, text.len, r);
	return v;
}

void run_config_digest(const struct run_folder *f, char hex[SHA256_HEX + 1])
{
	const struct config_resolved r = resolved_of(json_object_get(f->record, "machine"));
	json_auto_t *v = run_config(f, &r);
	buf_auto text = BUF_INIT;

	*hex = 0;
	if (v) {
		json_write(v, &text);
		record_text_digest(&text, hex);
	}
}

void run_config_complete(const char *text, struct buf *out)
{
	json_auto_t *stored = json_read(text, strlen(text), NULL);
	const struct config_resolved r = resolved_of(json_object_get(stored, "run"));
	json_auto_t *v = read_text(text, strlen(text), &r);

	if (v)
		json_write(v, out);
	else
		buf_str(out, text);
}

int numerical_version_of(const char *text)
{
	long v = text ? strtol(text, NULL, 10) : 0;

	return v > 0 && v < INT32_MAX ? (int)v : 0;
}
