// A small program on eProsima Fast DDS that connects to astray as a ROS 2 node on another
// DDS implementation: payloads are opaque bytes, endpoints match by the names of topic and type.
//
//   fastdds_peer subscribe SECONDS TOPIC TYPE [TOPIC TYPE …]      a line "TOPIC HEX" per message
//   fastdds_peer publish SECONDS HZ TOPIC TYPE HEX               the same message, again and again
//
// Both print "matched TOPIC USERDATA" for each endpoint that they find.

#include <fastdds/dds/core/status/PublicationMatchedStatus.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/reader/ReaderDiscoveryInfo.h>
#include <fastdds/rtps/writer/WriterDiscoveryInfo.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using Payload = eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<unsigned char>;

static std::mutex printing;

class Opaque : public TopicDataType {
public:
    explicit Opaque(const std::string& name)
    {
        setName(name.c_str());
        m_typeSize = 1 << 16;
        m_isGetKeyDefined = false;
        auto_fill_type_object(false);
        auto_fill_type_information(false);
    }
    bool serialize(void* data, Payload* payload) override
    {
        const Bytes& bytes = *static_cast<Bytes*>(data);
        std::memcpy(payload->data, bytes.data(), bytes.size());
        payload->length = static_cast<uint32_t>(bytes.size());
        payload->encapsulation = CDR_LE;
        return true;
    }
    bool deserialize(Payload* payload, void* data) override
    {
        static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void* data) override
    {
        const auto size = static_cast<uint32_t>(static_cast<Bytes*>(data)->size());
        return [size]() { return size; };
    }
    void* createData() override { return new Bytes(); }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }
};

class Seen : public DomainParticipantListener {
    void on_publisher_discovery(
        DomainParticipant*, eprosima::fastrtps::rtps::WriterDiscoveryInfo&& info) override
    {
        if (info.status == eprosima::fastrtps::rtps::WriterDiscoveryInfo::DISCOVERED_WRITER) {
            print_match(info.info.topicName().to_string(), info.info.m_qos.m_userData);
        }
    }
    void on_subscriber_discovery(
        DomainParticipant*, eprosima::fastrtps::rtps::ReaderDiscoveryInfo&& info) override
    {
        if (info.status == eprosima::fastrtps::rtps::ReaderDiscoveryInfo::DISCOVERED_READER) {
            print_match(info.info.topicName().to_string(), info.info.m_qos.m_userData);
        }
    }
    template <class Data> static void print_match(const std::string& topic, const Data& data)
    {
        std::lock_guard<std::mutex> lock(printing);
        const std::string text(data.begin(), data.end());
        std::printf("matched %s %s\n", topic.c_str(), text.c_str());
        std::fflush(stdout);
    }
};

class MessagePrinter : public DataReaderListener {
    void on_data_available(DataReader* reader) override
    {
        Bytes bytes;
        SampleInfo info;
        while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
            if (!info.valid_data) {
                continue;
            }
            std::lock_guard<std::mutex> lock(printing);
            std::printf("%s ", reader->get_topicdescription()->get_name().c_str());
            for (unsigned char byte : bytes) {
                std::printf("%02x", byte);
            }
            std::printf("\n");
            std::fflush(stdout);
        }
    }
};

static Topic* topic_of(DomainParticipant* participant, const char* name, const char* type)
{
    TypeSupport support(new Opaque(type));
    support.register_type(participant);
    return participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
}

static void subscribe(DomainParticipant* participant, int count, char** names)
{
    static MessagePrinter listener;
    Subscriber* subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    for (int k = 0; k + 1 < count; k += 2) {
        DataReaderQos qos = DATAREADER_QOS_DEFAULT;
        qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
        qos.history().kind = KEEP_LAST_HISTORY_QOS;
        qos.history().depth = 100;
        const bool latched = std::strstr(names[k], "tf_static") || std::strstr(names[k], "rt/map");
        qos.durability().kind = latched ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
        qos.endpoint().history_memory_policy =
            eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        Topic* topic = topic_of(participant, names[k], names[k + 1]);
        subscriber->create_datareader(topic, qos, &listener);
    }
}

static Bytes bytes_of(const char* hex)
{
    Bytes bytes;
    for (size_t k = 0; k + 1 < std::strlen(hex); k += 2) {
        bytes.push_back(static_cast<unsigned char>(std::stoi(std::string(hex + k, 2), nullptr, 16)));
    }
    return bytes;
}

static void publish(DomainParticipant* participant, double seconds, double rate, char** names)
{
    Publisher* publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
    DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
    qos.endpoint().history_memory_policy =
        eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    DataWriter* writer = publisher->create_datawriter(topic_of(participant, names[0], names[1]), qos);
    Bytes bytes = bytes_of(names[2]);
    for (int k = 0; k < seconds * rate; ++k) {
        writer->write(&bytes);
        std::this_thread::sleep_for(std::chrono::duration<double>(1.0 / rate));
    }
}

int main(int argc, char** argv)
{
    if (argc < 5) {
        std::fprintf(stderr, "subscribe SECONDS TOPIC TYPE … | publish SECONDS HZ TOPIC TYPE HEX\n");
        return 2;
    }
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(
        std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>());
    static Seen seen;
    const char* domain = std::getenv("ROS_DOMAIN_ID");
    DomainParticipant* participant = DomainParticipantFactory::get_instance()->create_participant(
        domain ? std::atoi(domain) : 0, qos, &seen, StatusMask::none());
    if (!participant) {
        return 1;
    }
    const double seconds = std::atof(argv[2]);
    if (std::string(argv[1]) == "subscribe") {
        subscribe(participant, argc - 3, argv + 3);
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    } else {
        publish(participant, seconds, std::atof(argv[3]), argv + 4);
    }
    std::fflush(stdout);
    std::_Exit(0);  // ends without leaving the domain, as a killed peer would
}
