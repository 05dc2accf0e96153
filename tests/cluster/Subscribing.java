import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Subscribes to a topic, and says what it is told, by each of the two group protocols. */
public class Subscribing {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    public static void main(String[] given) {
        for (String protocol : List.of("classic", "consumer")) {
            Map<String, Object> options =
                    Map.of("bootstrap.servers", given[0], "group.id", protocol, "group.protocol", protocol);
            try (KafkaConsumer<String, String> consumer =
                    new KafkaConsumer<>(options, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of(given[1]));
                System.out.println(protocol + ": " + consumer.poll(PATIENCE).count() + " records");
            } catch (UnsupportedVersionException told) {
                System.out.println(protocol + ": " + told.getMessage());
            }
        }
    }
}
