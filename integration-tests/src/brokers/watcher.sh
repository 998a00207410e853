# Cleans up after a test process, however that ends.
#
# Standard input is a pipe that only the test process holds. When it is closed, be it by a drop, a panic or SIGKILL, then this ends the
# process group whose leader's id stands in FOLDER/pid, and removes FOLDER and DATA.
# $1: FOLDER. $2: DATA, or nothing. $3: a container that is removed too, or nothing.
trap '' HUP INT TERM
# Also for a test whose PATH leads nowhere.
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
while read -r _; do :; done
# Renamed first: a launch that has not written its pid by now cannot do so any more, and ends.
gone="$1.gone"
mv "$1" "$gone" 2>/dev/null
if [ -s "$gone/pid" ]; then
    pid=$(cat "$gone/pid")
    # SIGKILL ends a stopped process as well, on Linux; elsewhere SIGCONT lets it die.
    kill -s KILL -- "-$pid" 2>/dev/null
    kill -s CONT -- "-$pid" 2>/dev/null
fi
if [ -s "$gone/epmd-port" ]; then
    # A node that finds its epmd dead starts another, which leaves the group.
    epmd -port "$(cat "$gone/epmd-port")" -kill >/dev/null 2>&1
fi
if [ -n "$3" ]; then
    within=$(command -v timeout) && within="$within 20"
    # Again, for one that is still being created when its owner is killed: FOLDER/started tells that it was.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        $within docker rm --force --volumes "$3" >/dev/null 2>&1
        [ -e "$gone/started" ] && break
        sleep 0.5
    done
fi
# Again, for a process that was writing when it was killed.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    rm -rf "$gone" ${2:+"$2"} 2>/dev/null
    [ -e "$gone" ] || [ -n "$2" ] && [ -e "$2" ] || exit 0
    sleep 0.1
done
exit 1
