# Kafka, formatted first where it has no data.
#
# $1: the server's folder. $2: java. $3: the folder of its libraries. The rest: options of the virtual machine.
folder=$1 java=$2 libraries=$3
shift 3
if [ ! -e "$folder/data/meta.properties" ]; then
    "$java" -Xmx128m "$@" -cp "$libraries/*" kafka.tools.StorageTool format \
        --cluster-id MkU3OEVBNTcwNTJENDM2Qg --config "$folder/server.properties" >/dev/null || exit 1
fi
exec "$java" -Xms64m -Xmx256m "$@" -cp "$libraries/*" kafka.Kafka "$folder/server.properties"
