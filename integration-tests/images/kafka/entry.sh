# Formats where there are no data, then becomes the server.
#
# KAFKA_ADVERTISED: HOST:PORT under which clients reach port 9092 of this container.
set -eu
settings=/tmp/server.properties
{
    cat /opt/server.properties
    echo "controller.quorum.voters=1@127.0.0.1:9093"
    echo "listeners=PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093"
    echo "advertised.listeners=PLAINTEXT://${KAFKA_ADVERTISED:?must be HOST:PORT of this container for its clients}"
    echo "log.dirs=/data"
} >"$settings"
export JDK_JAVA_OPTIONS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.awt.headless=true \
-Dorg.slf4j.simpleLogger.defaultLogLevel=warn -Dorg.slf4j.simpleLogger.logFile=System.out"
if [ ! -e /data/meta.properties ]; then
    java -Xmx128m -cp '/opt/kafka/*' kafka.tools.StorageTool format \
        --cluster-id MkU3OEVBNTcwNTJENDM2Qg --config "$settings" >/dev/null
fi
exec java -Xms64m -Xmx256m -cp '/opt/kafka/*' kafka.Kafka "$settings"
