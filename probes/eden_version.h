/* The version of Eden: library, tool and documentation. Declared here only. */
#ifndef EDEN_VERSION_H
#define EDEN_VERSION_H

#define EDEN_VERSION_MAJOR 0
#define EDEN_VERSION_MINOR 1
#define EDEN_VERSION_PATCH 0

#define EDEN_VERSION_JOIN_(major, minor, patch) #major "." #minor "." #patch
#define EDEN_VERSION_EXPAND_(major, minor, patch) EDEN_VERSION_JOIN_(major, minor, patch)
/* The version of these headers, as "0.1.0". eden_version() returns the version of the library. */
#define EDEN_VERSION EDEN_VERSION_EXPAND_(EDEN_VERSION_MAJOR, EDEN_VERSION_MINOR, EDEN_VERSION_PATCH)

#endif
