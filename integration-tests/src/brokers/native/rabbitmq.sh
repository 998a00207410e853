# RabbitMQ with an epmd of its own in its process group, which dies with it.
#
# $1: the folder of the server. ERL_EPMD_PORT and ERL_EPMD_ADDRESS say where epmd listens. ALLOW_INPUT lets the server's script become the
# virtual machine instead of its parent, so that the pid is the server's.
epmd &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    epmd -names >/dev/null 2>&1 && break
    sleep 0.1
done
export RABBITMQ_ALLOW_INPUT=true
exec "$1/rabbitmq-server"
