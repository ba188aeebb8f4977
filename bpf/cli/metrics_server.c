/* 1. Algorithm
 *     scraper --HTTP--> server process --question: a number, the format--> tool
 *     scraper <--HTTP-- server process <--answer: that number, size, text-- tool
 *
 * libmicrohttpd runs in the main thread of the server, which serves one request at a time. The library brings others
 * with it, of cryptography, so that only the server loads it. Questions and answers go through pipes, which, unlike
 * sockets, hand over no descriptors: what the server holds, it alone closes.
 *
 * 2. Invariants
 * I1. The server can open, start, signal and trace nothing, and connect to nobody: it has its listening socket, its
 *     connections and the pipes.
 * I2. The tool sends for SLICE_MS at a time, and goes on with its work in between. A server that takes nothing for
 *     STALL_MS ends the export.
 * I3. The tool, which may signal nobody, waits a second for the server to end with its pipes. One that has not ended
 * then is killed by the kernel when the tool ends: PR_SET_PDEATHSIG, which the sandbox does not let it change.
 *
 * 3. Failure
 * Without an answer in ANSWER_MS a scraper gets 503; the answer is read when it comes, and left out. There are
 * MOST_CLIENTS at a time, and MOST_WAITING others wait. A connection is for one request. A client has TIMEOUT_S for it,
 * and as long to take its answer, however it spreads its bytes; where all connections are taken, CROWDED_MS. Then an
 * answer serves later requests, too, for as long as it took to make, LEAST_SHARED_MS to SHARED_MS, so that a crowd
 * takes about half of the tool's time. The library lets nobody close a connection: cut_off() leads it to do so within a
 * second. */
#include "cli/metrics_server.h"
#include "util/clock.h"
#include "util/sandbox.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SLICE_MS = 50,
    STALL_MS = 10000,
    ANSWER_MS = 5000,
    IDLE_MS = 1000,
    CROWDED_MS = 500,
    LEAST_SHARED_MS = 100,
    SHARED_MS = 1000,
    TICK_MS = 100, /* where all connections are taken */
    TIMEOUT_S = 10,
    MOST_CLIENTS = 32,
    MOST_WAITING = 128,
    MOST_BYTES = 256 << 20,
    NEVER_BYTES = 1 << 30
};

struct question {
    uint64_t number, is_open;
};

struct answer_head {
    uint64_t number, bytes;
};

struct metrics_server {
    int questions, answers; /* the tool's ends of the pipes */
    pid_t process;
    char *answer; /* owned: head and text that are being sent; NULL: none */
    size_t bytes, sent;
    uint64_t stall_ns; /* since when nothing of it was taken */
    char address[INET6_ADDRSTRLEN + 16];
};

/* ---- the library ------------------------------------------------------------------------------------------------ */

static const char library[] = "libmicrohttpd.so.12";

struct http {
    __typeof__(&MHD_start_daemon) start;
    __typeof__(&MHD_get_daemon_info) info;
    __typeof__(&MHD_get_timeout) timeout;
    __typeof__(&MHD_run) run;
    __typeof__(&MHD_get_connection_info) connection_info;
    __typeof__(&MHD_set_connection_option) set_option;
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
           load_function(from, "MHD_get_daemon_info", &http->info) &&
           load_function(from, "MHD_get_timeout", &http->timeout) && load_function(from, "MHD_run", &http->run) &&
           load_function(from, "MHD_get_connection_info", &http->connection_info) &&
           load_function(from, "MHD_set_connection_option", &http->set_option) &&
           load_function(from, "MHD_lookup_connection_value", &http->header) &&
           load_function(from, "MHD_create_response_from_buffer", &http->make) &&
           load_function(from, "MHD_add_response_header", &http->add_header) &&
           load_function(from, "MHD_queue_response", &http->queue) &&
           load_function(from, "MHD_destroy_response", &http->destroy);
}

/* ---- the server's side ------------------------------------------------------------------------------------------ */

/* What the server has asked, and has read so far of what comes. */
struct asking {
    int questions, answers;  /* the server's ends of the pipes */
    uint64_t number;         /* of the last question */
    struct answer_head head; /* of the answer that is being read; */
    size_t head_bytes;       /* so much of it is there, */
    uint64_t left;           /* and of its text so much is not */
};

/* Waits until the deadline for some of these bytes; 0: none came. */
static size_t receive(int from, void *to, size_t bytes, uint64_t deadline_ns) {
    for (;;) {
        ssize_t got = read(from, to, bytes);
        if (got > 0) {
            return (size_t)got;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            _exit(1); /* the tool has ended */
        }
        uint64_t now = now_ns();
        struct pollfd fd = {.fd = from, .events = POLLIN};
        if (now >= deadline_ns) {
            return 0;
        }
        poll(&fd, 1, (int)((deadline_ns - now) / 1000000 + 1));
    }
}

/* Reads what is left of an answer that is too late. False: it has not all come. */
static bool skip_text(struct asking *asking, uint64_t deadline_ns) {
    static char unwanted[65536];
    while (asking->left != 0) {
        size_t most = asking->left < sizeof unwanted ? (size_t)asking->left : sizeof unwanted;
        size_t got = receive(asking->answers, unwanted, most, deadline_ns);
        if (got == 0) {
            return false;
        }
        asking->left -= got;
    }
    return true;
}

static bool read_head(struct asking *asking, uint64_t deadline_ns) {
    while (asking->head_bytes < sizeof asking->head) {
        size_t got = receive(asking->answers, (char *)&asking->head + asking->head_bytes,
                             sizeof asking->head - asking->head_bytes, deadline_ns);
        if (got == 0) {
            return false;
        }
        asking->head_bytes += got;
    }
    asking->head_bytes = 0;
    asking->left = asking->head.bytes;
    return true;
}

static char *read_text(struct asking *asking, uint64_t deadline_ns) {
    size_t bytes = (size_t)asking->head.bytes, done = 0;
    char *text = bytes != 0 && bytes <= MOST_BYTES ? malloc(bytes) : NULL;
    while (text && done < bytes) {
        size_t got = receive(asking->answers, text + done, bytes - done, deadline_ns);
        if (got == 0) {
            free(text);
            return NULL;
        }
        done += got;
        asking->left -= got;
    }
    return text;
}

/* Reads what has come of late answers, which the tool waits to get rid of, and ends when the tool has ended. */
static void skip_late(struct asking *asking) {
    while (skip_text(asking, 0) && read_head(asking, 0)) {
    }
}

/* The text; NULL: there is none in time. */
static char *ask(struct asking *asking, bool is_open, size_t *size) {
    const struct question question = {++asking->number, is_open};
    uint64_t deadline_ns = now_ns() + ANSWER_MS * 1000000ull;
    if (write(asking->questions, &question, sizeof question) != sizeof question) {
        return NULL; /* a tool that was stopped for long has thousands of questions to read */
    }
    do {
        if (!skip_text(asking, deadline_ns) || !read_head(asking, deadline_ns)) {
            return NULL;
        }
    } while (asking->head.number != question.number);
    *size = (size_t)asking->head.bytes;
    return read_text(asking, deadline_ns);
}

struct client {
    struct MHD_Connection *connection; /* NULL: none */
    int fd;
    uint64_t since_ns; /* when it came, or was answered */
    bool is_cut_off;
};

struct page {
    struct MHD_Response *response; /* NULL: none has been made */
    uint64_t until_ns;             /* shared until then; 0: with nobody */
};

struct serving {
    struct http http;
    struct asking asking;
    struct page pages[2]; /* for Prometheus, and OpenMetrics */
    struct client clients[MOST_CLIENTS];
};

/* As MHD_NotifyConnectionCallback. */
static void on_connection(void *context, struct MHD_Connection *connection, void **client,
                          enum MHD_ConnectionNotificationCode what) {
    struct serving *serving = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*client) {
            *(struct client *)*client = (struct client){0};
        }
        return;
    }
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        if (!serving->clients[i].connection) {
            const int fd = serving->http.connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
            serving->clients[i] = (struct client){.connection = connection, .fd = fd, .since_ns = now_ns()};
            *client = &serving->clients[i];
            return;
        }
    }
}

/* The library closes a connection whose client has said nothing for a while, or that cannot be written to. So nothing
 * that comes wakes it any more, and what it writes is refused. */
static void cut_off(const struct http *http, struct client *client) {
    const int never = NEVER_BYTES;
    client->is_cut_off = true;
    setsockopt(client->fd, SOL_SOCKET, SO_RCVLOWAT, &never, sizeof never);
    http->set_option(client->connection, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
    shutdown(client->fd, SHUT_WR);
}

static bool is_crowded(const struct serving *serving) {
    size_t taken = 0;
    while (taken < MOST_CLIENTS && serving->clients[taken].connection) {
        taken++;
    }
    return taken == MOST_CLIENTS;
}

/* Those that were late before the library has looked at what they sent. */
static void cut_off_late(struct serving *serving, uint64_t before_ns) {
    const uint64_t most_ns = (is_crowded(serving) ? CROWDED_MS : TIMEOUT_S * 1000) * 1000000ull;
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        struct client *client = &serving->clients[i];
        if (client->connection && !client->is_cut_off && client->since_ns + most_ns < before_ns) {
            cut_off(&serving->http, client);
        }
    }
}

/* NULL: no memory, and `text` has been freed where `memory` says so. */
static struct MHD_Response *make(const struct http *http, const char *type, char *text, size_t size,
                                 enum MHD_ResponseMemoryMode memory) {
    struct MHD_Response *response = http->make(size, text, memory);
    if (response) {
        http->add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        http->add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    } else if (memory == MHD_RESPMEM_MUST_FREE) {
        free(text);
    }
    return response;
}

static enum MHD_Result reply(const struct http *http, struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response) {
    struct client *client = http->connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (client) {
        client->since_ns = now_ns();
    }
    return http->queue(connection, status, response);
}

static enum MHD_Result say(const struct http *http, struct MHD_Connection *connection, unsigned status,
                           const char *text) {
    struct MHD_Response *response =
        make(http, "text/plain", (char *)(uintptr_t)text, strlen(text), MHD_RESPMEM_PERSISTENT);
    if (!response) {
        return MHD_NO;
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        http->add_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
    enum MHD_Result result = reply(http, connection, status, response);
    http->destroy(response);
    return result;
}

/* NULL: there is none in time. */
static struct MHD_Response *page_of(struct serving *serving, bool is_open) {
    const struct http *http = &serving->http;
    struct page *page = &serving->pages[is_open];
    const uint64_t asked_ns = now_ns();
    const bool is_shared = is_crowded(serving); /* sending it makes room: what waits is a crowd all the same */
    size_t size;
    if (page->response && asked_ns < page->until_ns) {
        return page->response;
    }
    if (page->response) {
        http->destroy(page->response); /* clients that still take it keep it */
    }
    char *text = ask(&serving->asking, is_open, &size);
    page->response = text ? make(http,
                                 is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                         : "text/plain; version=0.0.4; charset=utf-8",
                                 text, size, MHD_RESPMEM_MUST_FREE)
                          : NULL;
    const uint64_t now = now_ns(), took = now - asked_ns;
    const uint64_t least = LEAST_SHARED_MS * 1000000ull, most = SHARED_MS * 1000000ull;
    page->until_ns = is_shared ? now + (took < least ? least : took < most ? took : most) : 0;
    return page->response;
}

/* The largest weight that an Accept header (RFC 9110, 12.5.1) gives to this type by name; 0: it is not wanted. */
static double weight_of(const char *accept, const char *type) {
    double most = 0;
    size_t length = strlen(type);
    for (const char *range = accept, *end; *range; range = *end ? end + 1 : end) {
        end = range + strcspn(range, ",");
        range += strspn(range, " \t");
        if (strncasecmp(range, type, length) != 0 || !strchr(" \t;,", range[length])) {
            continue;
        }
        double weight = 1;
        for (const char *next = range + length; (next = memchr(next, ';', (size_t)(end - next)));) {
            next += 1 + strspn(next + 1, " \t");
            if (strncasecmp(next, "q=", 2) == 0) {
                weight = strtod(next + 2, NULL);
            }
        }
        most = weight > most ? weight : most;
    }
    return most;
}

static bool wants_open(const char *accept) {
    if (!accept) {
        return false;
    }
    double open = weight_of(accept, "application/openmetrics-text");
    return open > 0 && open >= weight_of(accept, "text/plain");
}

/* The path of a target, which may be an absolute one (RFC 9112, 3.2.2): "http://host/metrics". */
static const char *path_of(const char *target) {
    static const char scheme[] = "http://";
    if (strncasecmp(target, scheme, strlen(scheme)) != 0) {
        return target;
    }
    const char *path = strchr(target + strlen(scheme), '/');
    return path ? path : "/";
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **state) {
    static int begun;
    struct serving *serving = context;
    const struct http *http = &serving->http;
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        return say(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n"); /* a body is not read */
    }
    if (*upload_size != 0 || http->header(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        return MHD_NO; /* a body, which may have no end */
    }
    if (*state == NULL) { /* the headers are there */
        *state = &begun;
        return MHD_YES;
    }
    const char *path = path_of(url);
    if (strcmp(path, "/metrics") != 0) {
        return say(http, connection, strcmp(path, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, "there is /metrics\n");
    }
    struct MHD_Response *page =
        page_of(serving, wants_open(http->header(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT)));
    return page ? reply(http, connection, MHD_HTTP_OK, page)
                : say(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no figures now\n");
}

/* Waits for work of the library, and for what the tool sends. */
static void wait_for_work(const struct serving *serving, struct MHD_Daemon *daemon) {
    const int most = is_crowded(serving) ? TICK_MS : IDLE_MS;
    MHD_UNSIGNED_LONG_LONG timeout = IDLE_MS;
    serving->http.timeout(daemon, &timeout); /* leaves it as it is if there is none */
    struct pollfd fds[] = {
        {.fd = serving->http.info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN},
        {.fd = serving->asking.answers, .events = POLLIN},
    };
    poll(fds, sizeof fds / sizeof *fds, timeout < (unsigned)most ? (int)timeout : most);
}

/* Closes all descriptors but standard ones and these. */
static void keep_only(int listening, int questions, int answers) {
    int last = listening > questions ? listening : questions;
    last = last > answers ? last : answers;
    for (int fd = 3; fd < last; fd++) {
        if (fd != listening && fd != questions && fd != answers) {
            close(fd);
        }
    }
    close_range((unsigned)last + 1, ~0u, 0);
}

_Noreturn static void serve(int listening, int questions, int answers) {
    struct failure why;
    for (int i = 1; i < NSIG; i++) { /* also those sent to the whole group: this process ends with the tool */
        signal(i, SIG_IGN);
    }
    prctl(PR_SET_NAME, "edenscope-http");
    keep_only(listening, questions, answers);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) {
        _exit(1);
    }
    struct serving serving = {.asking = {.questions = questions, .answers = answers}};
    if (!load(&serving.http)) {
        failure_set(&why, 1, "%s cannot be loaded: %s", library, dlerror());
        _exit(failure_report(&why));
    }
    struct MHD_Daemon *daemon =
        serving.http.start(MHD_USE_EPOLL, 0, NULL, NULL, on_request, &serving, MHD_OPTION_LISTEN_SOCKET, listening,
                           MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
                           (unsigned)TIMEOUT_S, MHD_OPTION_NOTIFY_CONNECTION, on_connection, &serving, MHD_OPTION_END);
    const struct sandbox sandbox = {.profile = SANDBOX_SERVER, .memory = 1 << 30};
    if (!daemon || !sandbox_enter(&sandbox, &why)) {
        _exit(daemon ? failure_report(&why) : 1);
    }
    /* Before the first request: what is written to standard error controls a terminal. */
    if (dup2(null, 2) < 0) {
        _exit(1);
    }
    close(null);
    for (bool more = true; more;) {
        wait_for_work(&serving, daemon);
        skip_late(&serving.asking);
        const uint64_t before_ns = now_ns();
        more = serving.http.run(daemon) == MHD_YES;
        cut_off_late(&serving, before_ns);
    }
    _exit(1);
}

/* ---- the tool's side -------------------------------------------------------------------------------------------- */

static const char *remedy_of(int error) {
    switch (error) {
    case EADDRINUSE:
        return "; give another port, or 0 for a free one";
    case EACCES:
        return "; ports below 1024 need root or CAP_NET_BIND_SERVICE: give another one, or 0 for a free one";
    case EADDRNOTAVAIL:
        return "; give an address of this machine (`ip address` lists them), or 0.0.0.0 for all";
    default:
        return "";
    }
}

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
                bind(made, found->ai_addr, found->ai_addrlen) == 0 && listen(made, MOST_WAITING) == 0;
    if (!good) {
        failure_set(why, 1, "--listen %.100s: %s%s", where, strerror(errno), remedy_of(errno));
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

static void close_both(const int pipe[2]) {
    for (int i = 0; i < 2; i++) {
        if (pipe[i] >= 0) {
            close(pipe[i]);
        }
    }
}

/* Forks the server. Without one the pipes are closed, and errno says why. */
static bool start(struct metrics_server *server, int listening) {
    int questions[2] = {-1, -1}, answers[2] = {-1, -1};
    pid_t tool = getpid();
    bool good = pipe2(questions, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(answers, O_CLOEXEC | O_NONBLOCK) == 0;
    server->process = good ? fork() : -1;
    if (server->process == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != tool) { /* I3 */
            _exit(1);
        }
        serve(listening, questions[1], answers[0]);
    }
    if (server->process < 0) {
        int error = errno;
        close_both(questions);
        close_both(answers);
        errno = error;
        return false;
    }
    close(questions[1]);
    close(answers[0]);
    server->questions = questions[0];
    server->answers = answers[1];
    return true;
}

struct metrics_server *metrics_server_open(const char *where, struct failure *why) {
    int listening = listen_at(where, why);
    if (listening < 0) {
        return NULL;
    }
    struct metrics_server *server = calloc(1, sizeof *server);
    if (server) {
        name_address(server, listening);
    }
    if (!server || !start(server, listening)) {
        failure_set(why, 1, "cannot start the server: %s", strerror(errno));
        free(server);
        server = NULL;
    }
    close(listening);
    return server;
}

const char *metrics_server_address(const struct metrics_server *server) { return server->address; }

int metrics_server_fd(const struct metrics_server *server) { return server->questions; }

bool metrics_server_is_busy(const struct metrics_server *server) { return server->answer; }

/* Sends for SLICE_MS. False: the server has ended, or takes nothing. */
static bool send_more(struct metrics_server *server) {
    const uint64_t end_ns = now_ns() + SLICE_MS * 1000000ull;
    while (server->sent < server->bytes && now_ns() < end_ns) {
        ssize_t sent = write(server->answers, server->answer + server->sent, server->bytes - server->sent);
        if (sent > 0) {
            server->sent += (size_t)sent;
            server->stall_ns = now_ns();
        } else if (errno != EAGAIN && errno != EINTR) {
            return false;
        } else if (errno == EAGAIN) {
            struct pollfd fd = {.fd = server->answers, .events = POLLOUT};
            poll(&fd, 1, 5);
        }
    }
    if (server->sent == server->bytes) {
        free(server->answer);
        server->answer = NULL;
    }
    return !server->answer || now_ns() - server->stall_ns < STALL_MS * 1000000ull;
}

/* False: no memory for an answer, not even one that says that there is none. */
static bool begin_answer(struct metrics_server *server, uint64_t number, const char *text, size_t size) {
    const struct answer_head head = {number, text && size <= MOST_BYTES ? size : 0};
    server->answer = malloc(sizeof head + head.bytes);
    if (!server->answer) {
        return false;
    }
    memcpy(server->answer, &head, sizeof head);
    if (head.bytes != 0) {
        memcpy(server->answer + sizeof head, text, head.bytes);
    }
    server->bytes = sizeof head + head.bytes;
    server->sent = 0;
    server->stall_ns = now_ns();
    return true;
}

bool metrics_server_answer(struct metrics_server *server, metrics_text_fn *text, void *context, struct failure *why) {
    struct question question;
    bool good = true;
    if (!server->answer) {
        ssize_t got = read(server->questions, &question, sizeof question);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return true;
        }
        good = got == sizeof question; /* it is sent whole */
        size_t size = 0;
        char *answer = good ? text(context, question.is_open, &size) : NULL;
        good = good &&
               (begin_answer(server, question.number, answer, size) || begin_answer(server, question.number, NULL, 0));
        free(answer);
    }
    return (good && send_more(server)) || failure_set(why, 1, "the server of metrics has ended");
}

void metrics_server_close(struct metrics_server *server) {
    if (!server) {
        return;
    }
    close(server->questions);
    close(server->answers);
    sandbox_await_end(server->process); /* I3 */
    free(server->answer);
    free(server);
}
