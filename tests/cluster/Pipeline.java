import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Moves values from NAME-source to NAME-sink in transactions, and says what it asks for. */
public class Pipeline {
    private static final int BATCH = 5;
    private final Map<String, Object> common = new HashMap<>();
    private final String name;
    private final TopicPartition source;

    private Pipeline(String bootstrap, String name) {
        this.name = name;
        this.source = new TopicPartition(name + "-source", 0);
        common.put("bootstrap.servers", bootstrap);
        common.put("request.timeout.ms", "5000");
    }

    public static void main(String[] given) {
        new Pipeline(given[0], given[1]).run(Long.parseLong(given[2]));
    }

    private void run(long inputs) {
        Map<String, Object> reading = new HashMap<>(common);
        reading.put("group.id", name);
        reading.put("enable.auto.commit", "false");
        reading.put("isolation.level", "read_committed");
        reading.put("auto.offset.reset", "earliest");
        KafkaProducer<String, String> producer = started();
        int attempt = 0;
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(source));
            long at;
            while ((at = committed(consumer)) < inputs) {
                say("begin " + ++attempt);
                try {
                    transact(producer, consumer, at, Math.min(at + BATCH, inputs), attempt);
                } catch (KafkaException failed) {
                    say("failed " + failed);
                    producer.close(Duration.ZERO);
                    producer = started();
                }
            }
        }
        producer.close(Duration.ZERO);
        say("done");
    }

    private void transact(
            KafkaProducer<String, String> producer,
            KafkaConsumer<String, String> consumer,
            long at,
            long behind,
            int attempt) {
        consumer.seek(source, at);
        List<String> values = new ArrayList<>();
        while (values.size() < behind - at) {
            for (ConsumerRecord<String, String> one : consumer.poll(Duration.ofMillis(200))) {
                if (one.offset() >= at + values.size() && one.offset() < behind) {
                    values.add(one.value());
                }
            }
        }
        producer.beginTransaction();
        for (String value : values) {
            producer.send(new ProducerRecord<>(name + "-sink", 0, null, value + " by " + attempt));
        }
        Map<TopicPartition, OffsetAndMetadata> offsets =
                Map.of(source, new OffsetAndMetadata(behind));
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        if (attempt % 4 == 3) {
            say("aborts " + attempt);
            producer.abortTransaction();
        } else {
            say("asks " + attempt);
            producer.commitTransaction();
        }
    }

    private long committed(KafkaConsumer<String, String> consumer) {
        OffsetAndMetadata found = consumer.committed(Set.of(source)).get(source);
        return found == null ? 0 : found.offset();
    }

    private KafkaProducer<String, String> started() {
        Map<String, Object> writing = new HashMap<>(common);
        writing.put("transactional.id", name);
        writing.put("delivery.timeout.ms", "30000");
        KafkaProducer<String, String> made =
                new KafkaProducer<>(writing, new StringSerializer(), new StringSerializer());
        made.initTransactions();
        return made;
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
