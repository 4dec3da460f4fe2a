/* SPDX-License-Identifier: Apache-2.0
 * Checks that the module is of this build, and loads it. */
#include "runtime/net/comm/mpi_load.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/buf.h"
#include "runtime/net/comm/mpi_build.h"

enum { MODULE_BYTES_MAX = 64 << 20 };

static const struct mpi_library libraries[] = { { "openmpi", "Open MPI" }, { "mpich", "MPICH" } };
enum { OPENMPI, MPICH, NLIBRARY };
_Static_assert(NLIBRARY == sizeof libraries / sizeof *libraries, "each has a number");

/* Variables with the rank; the first that is set counts. mpirun of Open MPI sets PMIX_RANK, too, and so may launchers of MPICH. Slurm sets
 * PMIX_RANK with --mpi=pmix, which both libraries may use, and PMI_RANK with --mpi=pmi2. */
static const struct launcher {
	const char *rank;
	int library; /* NLIBRARY: either */
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", OPENMPI },
	{ "PMI_RANK", MPICH },
	{ "PMIX_RANK", NLIBRARY },
};

const struct mpi_library *mpi_library(unsigned k) { return k < NLIBRARY ? &libraries[k] : NULL; }

/* The one that there is a module for; Open MPI where both have one, or none. */
static int library_of(const struct launcher *l)
{
	char path[MPI_PATH_MAX];
	struct err none;

	if (l->library != NLIBRARY)
		return l->library;
	return mpi_module_find(&libraries[OPENMPI], path, &none) == -ERR_CONFIG
			&& mpi_module_find(&libraries[MPICH], path, &none) != -ERR_CONFIG
		? MPICH
		: OPENMPI;
}

int mpi_launched(struct mpi_launch *out, struct err *e)
{
	for (size_t k = 0; k < sizeof launchers / sizeof *launchers; k++) {
		const char *text = getenv(launchers[k].rank);
		char *end;

		if (!text || !*text)
			continue;
		unsigned long rank = strtoul(text, &end, 10);
		if (!isdigit((unsigned char)*text) || *end || rank > 1u << 30)
			return err_set(e, -ERR_CONFIG, "%s is `%.80s`, which is no rank",
				launchers[k].rank, text);
		*out = (struct mpi_launch){ &libraries[library_of(&launchers[k])], (unsigned)rank };
		return 0;
	}
	return err_set(e, -ERR_CONFIG,
		"no MPI has started this process: OMPI_COMM_WORLD_RANK, PMI_RANK and PMIX_RANK are not set; use mpirun, "
		"mpiexec, or srun with --mpi=pmix or --mpi=pmi2, or leave out --transport=mpi");
}

/* ---- the file ---- */

static const char *folder(void)
{
	static const char tree[] = MPI_BUILD_FOLDER "/";
	char self[MPI_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = 0;
	return strncmp(self, tree, sizeof tree - 1) ? MPI_MODULE_FOLDER : MPI_BUILD_FOLDER;
}

int mpi_module_find(const struct mpi_library *l, char path[MPI_PATH_MAX], struct err *e)
{
	buf_auto file = BUF_INIT;

	snprintf(path, MPI_PATH_MAX, "%s/qcnn-mpi-%s.so", folder(), l->name);
	if (buf_read_file(&file, path, MODULE_BYTES_MAX, NULL))
		return err_set(e, -ERR_CONFIG,
			"%s is missing, which processes that %s has started need for --transport=mpi: configure builds it "
			"where it finds mpicc.%s, and --push does not send it",
			path, l->title, l->name);
	/* The text in it, which begins as MPI_BUILD does, ends at the latest behind the file. */
	const char *build = memmem(file.len ? file.data : "", file.len, MPI_BUILD_MARK,
		sizeof MPI_BUILD_MARK - 1);
	if (build && !strcmp(build, MPI_BUILD))
		return 0;
	return err_set(e, -ERR_PROTOCOL,
		"%s is of another build (%.80s) than this program (%s): install both together, or leave out --transport=mpi",
		path, build ? build : "without a mark", MPI_BUILD);
}

int mpi_check(struct err *e)
{
	struct mpi_launch l;
	char path[MPI_PATH_MAX];
	int code = mpi_launched(&l, e);

	return code ? code : mpi_module_find(l.library, path, e);
}

/* MPI loads parts of itself, which look for the names of the whole: RTLD_GLOBAL. */
int mpi_load(const struct mpi_library *l, const struct mpi_module **out, struct err *e)
{
	static const struct mpi_module *loaded;
	char path[MPI_PATH_MAX];

	if (!loaded) {
		int code = mpi_module_find(l, path, e);
		if (code)
			return code;
		void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
		if (!handle)
			return err_set(e, -ERR_CONFIG, "%s cannot be loaded: %s", path, dlerror());
		loaded = dlsym(handle, MPI_MODULE_SYMBOL);
		if (!loaded)
			return err_set(e, -ERR_PROTOCOL, "%s has no %s", path, MPI_MODULE_SYMBOL);
	}
	*out = loaded;
	return 0;
}
