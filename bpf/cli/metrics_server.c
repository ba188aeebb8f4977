/* 1. Algorithm
 *     scraper --HTTP--> server process --one byte--> tool
 *     scraper <--HTTP-- server process <--size, text-- tool
 *
 * libmicrohttpd runs in the main thread of the server, which serves one request at a time. The byte says which format
 * is wanted.
 *
 * 2. Invariants
 * I1. The server can open, start, signal and trace nothing: it has its listening socket, its connections and the pair.
 * I2. The tool waits for the server SEND_MS at most; one that does not read is ended.
 *
 * 3. Failure
 * Without an answer in ANSWER_MS a scraper gets 503. A client has TIMEOUT_S for its request, and there are MOST_CLIENTS
 * at a time. */
#include "cli/metrics_server.h"
#include "util/sandbox.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEND_MS = 1000, ANSWER_MS = 5000, TIMEOUT_S = 10, MOST_CLIENTS = 32, MOST_BYTES = 256 << 20 };

struct metrics_server {
    int pair;
    pid_t process;
    char address[INET6_ADDRSTRLEN + 16];
};

/* ---- the library ------------------------------------------------------------------------------------------------ */

static const char library[] = "libmicrohttpd.so.12";

struct http {
    __typeof__(&MHD_start_daemon) start;
    __typeof__(&MHD_run_wait) run;
    __typeof__(&MHD_lookup_connection_value) header;
    __typeof__(&MHD_create_response_from_buffer) make;
    __typeof__(&MHD_add_response_header) add_header;
    __typeof__(&MHD_queue_response) queue;
    __typeof__(&MHD_destroy_response) destroy;
};

/* POSIX: what dlsym() returns may be the address of a function. */
static bool load_function(void *from, const char *name, void *function) {
    void *found = dlsym(from, name);
    memcpy(function, &found, sizeof found);
    return found;
}

static bool load(struct http *http) {
    void *from = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return from && load_function(from, "MHD_start_daemon", &http->start) &&
           load_function(from, "MHD_run_wait", &http->run) &&
           load_function(from, "MHD_lookup_connection_value", &http->header) &&
           load_function(from, "MHD_create_response_from_buffer", &http->make) &&
           load_function(from, "MHD_add_response_header", &http->add_header) &&
           load_function(from, "MHD_queue_response", &http->queue) &&
           load_function(from, "MHD_destroy_response", &http->destroy);
}

/* ---- the server's side ------------------------------------------------------------------------------------------ */

static bool read_all(int from, void *to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = recv(from, (char *)to + done, bytes - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* The text; NULL: there is none. */
static char *ask(int pair, bool is_open, size_t *size) {
    const char wanted = is_open ? 'o' : 't';
    uint64_t bytes = 0;
    if (send(pair, &wanted, 1, MSG_NOSIGNAL) != 1 || !read_all(pair, &bytes, sizeof bytes)) {
        _exit(1); /* an answer that comes later would be taken for another's */
    }
    char *text = bytes != 0 && bytes <= MOST_BYTES ? malloc(bytes) : NULL;
    if (bytes != 0 && (!text || !read_all(pair, text, bytes))) {
        _exit(1);
    }
    *size = bytes;
    return text;
}

struct serving {
    struct http http;
    int pair;
};

static enum MHD_Result reply(const struct http *http, struct MHD_Connection *connection, unsigned status,
                             const char *type, char *text, size_t size, enum MHD_ResponseMemoryMode memory) {
    struct MHD_Response *response = http->make(size, text, memory);
    if (!response) {
        if (memory == MHD_RESPMEM_MUST_FREE) {
            free(text);
        }
        return MHD_NO;
    }
    http->add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        http->add_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
    enum MHD_Result result = http->queue(connection, status, response);
    http->destroy(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **state) {
    static char none[] = "there is /metrics\n", methods[] = "GET and HEAD only\n", busy[] = "no figures now\n";
    static int begun;
    const struct serving *serving = context;
    const struct http *http = &serving->http;
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        return reply(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", methods, strlen(methods),
                     MHD_RESPMEM_PERSISTENT); /* at once: a body is not read */
    }
    if (*state == NULL || *upload_size != 0) { /* the headers are there; a body is not wanted */
        *state = &begun;
        *upload_size = 0;
        return MHD_YES;
    }
    if (strcmp(url, "/metrics") != 0) {
        return reply(http, connection, strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, "text/plain", none,
                     strlen(none), MHD_RESPMEM_PERSISTENT);
    }
    const char *accept = http->header(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    bool is_open = accept && strstr(accept, "application/openmetrics-text");
    size_t size;
    char *text = ask(serving->pair, is_open, &size);
    if (!text) {
        return reply(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain", busy, strlen(busy),
                     MHD_RESPMEM_PERSISTENT);
    }
    return reply(http, connection, MHD_HTTP_OK,
                 is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                         : "text/plain; version=0.0.4; charset=utf-8",
                 text, size, MHD_RESPMEM_MUST_FREE);
}

static void set_timeout(int socket, int option, int ms) {
    const struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000l};
    setsockopt(socket, SOL_SOCKET, option, &time, sizeof time);
}

/* Whether the tool still lives. It says nothing unless it is asked. */
static bool is_wanted(int pair) {
    char byte;
    return recv(pair, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

_Noreturn static void serve(int listening, int pair) {
    struct failure why;
    for (int i = 1; i < NSIG; i++) { /* ^C is the tool's, which ends this process */
        signal(i, i == SIGTERM ? SIG_DFL : SIG_IGN);
    }
    prctl(PR_SET_NAME, "edenscope-http");
    set_timeout(pair, SO_RCVTIMEO, ANSWER_MS);
    struct serving serving = {.pair = pair};
    if (!load(&serving.http)) {
        failure_set(&why, 1, "%s cannot be loaded: %s", library, dlerror());
        _exit(failure_report(&why));
    }
    struct MHD_Daemon *daemon =
        serving.http.start(MHD_USE_EPOLL, 0, NULL, NULL, on_request, &serving, MHD_OPTION_LISTEN_SOCKET, listening,
                           MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
                           (unsigned)TIMEOUT_S, MHD_OPTION_END);
    const struct sandbox sandbox = {.profile = SANDBOX_SERVER, .memory = 1 << 30};
    if (!daemon || !sandbox_enter(&sandbox, &why)) {
        _exit(daemon ? failure_report(&why) : 1);
    }
    while (is_wanted(pair) && serving.http.run(daemon, 1000) == MHD_YES) {
    }
    _exit(0);
}

/* ---- the tool's side -------------------------------------------------------------------------------------------- */

/* A socket that listens there; -1 and why. */
static int listen_at(const char *where, struct failure *why) {
    char host[128];
    const char *port = strrchr(where, ':');
    size_t length = port ? (size_t)(port - where) : 0;
    bool is_bracketed = length >= 2 && where[0] == '[' && where[length - 1] == ']';
    bool is_number = port && port[1] && strspn(port + 1, "0123456789") == strlen(port + 1) && strlen(port + 1) <= 5 &&
                     atoi(port + 1) <= UINT16_MAX;
    if (!is_number || length == 0 || length >= sizeof host) {
        failure_set(why, 1, "--listen %.100s: not an address and a port, such as 127.0.0.1:9464", where);
        return -1;
    }
    snprintf(host, sizeof host, "%.*s", (int)(is_bracketed ? length - 2 : length), where + is_bracketed);
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host, port + 1, &hints, &found);
    if (error != 0) {
        failure_set(why, 1, "--listen %.100s: %s; give an address in numbers and a port", where, gai_strerror(error));
        return -1;
    }
    const int yes = 1;
    int made = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = made >= 0 && setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                bind(made, found->ai_addr, found->ai_addrlen) == 0 && listen(made, MOST_CLIENTS) == 0;
    if (!good) {
        failure_set(why, 1, "--listen %.100s: %s", where, strerror(errno));
    }
    freeaddrinfo(found);
    if (!good && made >= 0) {
        close(made);
    }
    return good ? made : -1;
}

static void name_address(struct metrics_server *server, int listening) {
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof address;
    char host[INET6_ADDRSTRLEN], port[8];
    if (getsockname(listening, (struct sockaddr *)&address, &bytes) == 0 &&
        getnameinfo((struct sockaddr *)&address, bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        snprintf(server->address, sizeof server->address, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
                 port);
    }
}

struct metrics_server *metrics_server_open(const char *where, struct failure *why) {
    int pair[2] = {-1, -1}, listening = listen_at(where, why);
    struct metrics_server *server = listening >= 0 ? calloc(1, sizeof *server) : NULL;
    if (!server || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        if (listening >= 0) {
            failure_set(why, 1, "--listen %.100s: %s", where, strerror(errno));
            close(listening);
        }
        free(server);
        return NULL;
    }
    name_address(server, listening);
    server->process = fork();
    if (server->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        serve(listening, pair[1]);
    }
    close(listening);
    close(pair[1]);
    server->pair = pair[0];
    set_timeout(server->pair, SO_SNDTIMEO, SEND_MS);
    if (server->process < 0) {
        failure_set(why, 1, "cannot start the server: %s", strerror(errno));
        metrics_server_close(server);
        return NULL;
    }
    return server;
}

const char *metrics_server_address(const struct metrics_server *server) { return server->address; }

int metrics_server_fd(const struct metrics_server *server) { return server->pair; }

static bool send_all(int to, const void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t sent = send(to, (const char *)data + done, bytes - done, MSG_NOSIGNAL);
        if (sent <= 0 && errno != EINTR) {
            return false;
        }
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

bool metrics_server_answer(struct metrics_server *server, metrics_text_fn *text, void *context, struct failure *why) {
    char wanted;
    ssize_t got = recv(server->pair, &wanted, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (got == 1) {
        size_t size = 0;
        char *answer = text(context, wanted == 'o', &size);
        uint64_t bytes = answer && size <= MOST_BYTES ? size : 0;
        bool is_sent = send_all(server->pair, &bytes, sizeof bytes) && send_all(server->pair, answer, bytes);
        free(answer);
        if (is_sent) {
            return true;
        }
    }
    return failure_set(why, 1, "the server of metrics has ended");
}

void metrics_server_close(struct metrics_server *server) {
    if (!server) {
        return;
    }
    close(server->pair);
    if (server->process > 0) {
        kill(server->process, SIGKILL);
        while (waitpid(server->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(server);
}
