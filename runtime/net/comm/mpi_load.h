/* SPDX-License-Identifier: Apache-2.0
 * Which MPI has started this process, and the module for it (mpi_module.h): a file of one folder, that of the installation, or the
 * build tree for programs in it. */
#pragma once

#include "runtime/base/err.h"
#include "runtime/net/comm/mpi_module.h"

enum { MPI_PATH_MAX = 4096 };

struct mpi_library {
	const char *name;  /* as in the name of its module: openmpi */
	const char *title; /* Open MPI */
};

/* Those that there may be a module for, from 0; NULL: no more. */
const struct mpi_library *mpi_library(unsigned k);
/* Whether there is a module of this build: 0, -ERR_CONFIG: no file, -ERR_PROTOCOL: of another build. path[]: where, in any case. */
int mpi_module_find(const struct mpi_library *l, char path[MPI_PATH_MAX], struct err *e);

/* What the environment says. */
struct mpi_launch {
	const struct mpi_library *library;
	unsigned rank; /* of this process, among all of the launcher */
};
/* -ERR_CONFIG: no MPI has started this process. */
int mpi_launched(struct mpi_launch *out, struct err *e);
/* Whether ranks can use MPI here: as mpi_launched and mpi_module_find. Loads nothing. */
int mpi_check(struct err *e);
/* Loads the module, once. -ERR_CONFIG where it cannot be loaded, or as mpi_module_find. */
int mpi_load(const struct mpi_library *l, const struct mpi_module **out, struct err *e);
