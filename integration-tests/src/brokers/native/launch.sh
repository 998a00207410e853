# Starts a server in such a way that the watcher can end it from the first moment on.
#
# The pid is written by the process that becomes the server: where the watcher has taken the folder away, that fails, and nothing starts.
# $1: the folder. The rest: the server and its arguments.
PATH=$PATH:/usr/bin:/bin
echo "$$" >"$1/pid.new" && mv "$1/pid.new" "$1/pid" || exit 1
shift
exec "$@"
