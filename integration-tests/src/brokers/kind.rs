//! What kinds of broker there are, and which servers speak for them.

use std::fmt;

/// A kind of broker: what a backend speaks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Redis Streams.
    Redis,
    /// RabbitMQ, by AMQP 0-9-1.
    Amqp,
    /// Kafka.
    Kafka,
}

impl Kind {
    /// Each kind once.
    pub const ALL: [Self; 3] = [Self::Redis, Self::Amqp, Self::Kafka];

    /// The word for it in `QUEUE_TEST_SKIP` and in what a run says.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Amqp => "amqp",
            Self::Kafka => "kafka",
        }
    }

    /// The variable of the environment that gives a URL.
    #[must_use]
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Redis => "QUEUE_TEST_REDIS_URL",
            Self::Amqp => "QUEUE_TEST_AMQP_URL",
            Self::Kafka => "QUEUE_TEST_KAFKA",
        }
    }

    /// What a URL of it begins with, `://` not included.
    #[must_use]
    pub const fn scheme(self) -> &'static str {
        self.name()
    }

    /// The port where a URL says none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Redis => 6379,
            Self::Amqp => 5672,
            Self::Kafka => 9092,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A server program: the default one of its kind, or a newer one that a test asks for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Server {
    /// Redis, 7.0 or later.
    Redis,
    /// RabbitMQ, 3.10 or later.
    RabbitMq,
    /// Kafka 4.4.
    Kafka,
    /// Redis 8.2.
    Redis8,
    /// Valkey 9.1.
    Valkey,
    /// RabbitMQ 4.0.
    RabbitMq4,
}

impl Server {
    /// Each server once, the default ones first and in the order of [`Kind::ALL`].
    pub const ALL: [Self; 6] = [Self::Redis, Self::RabbitMq, Self::Kafka, Self::Redis8, Self::Valkey, Self::RabbitMq4];

    /// The word for it in `QUEUE_TEST_SKIP` and in what a run says.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::RabbitMq => "rabbitmq",
            Self::Kafka => "kafka",
            Self::Redis8 => "redis8",
            Self::Valkey => "valkey",
            Self::RabbitMq4 => "rabbitmq4",
        }
    }

    /// What it is a broker of.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Redis | Self::Redis8 | Self::Valkey => Kind::Redis,
            Self::RabbitMq | Self::RabbitMq4 => Kind::Amqp,
            Self::Kafka => Kind::Kafka,
        }
    }

    /// Whether it is the one that a test gets who asks for a kind. Only such a one can be given by URL.
    #[must_use]
    pub const fn is_default(self) -> bool {
        matches!(self, Self::Redis | Self::RabbitMq | Self::Kafka)
    }

    /// The local image that the container road runs, if there is one: name and tag.
    #[must_use]
    pub const fn image(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Redis => Some(("queue-test-redis", "test")),
            Self::RabbitMq => Some(("queue-test-rabbitmq", "test")),
            Self::Kafka => Some(("queue-test-kafka", "test")),
            Self::RabbitMq4 => Some(("queue-test-rabbitmq", "4.0")),
            Self::Redis8 | Self::Valkey => None,
        }
    }

    /// The server of that name, or the default one of the kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).map(Self::from);
        kind.or_else(|| Self::ALL.into_iter().find(|server| server.name() == name))
    }
}

impl From<Kind> for Server {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Redis => Self::Redis,
            Kind::Amqp => Self::RabbitMq,
            Kind::Kafka => Self::Kafka,
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
