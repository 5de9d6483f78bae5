"""How one says that something is to be kept quiet, in other words than "do not tell"."""

from typing import Final

WORDS: Final = {
    "WITHOUT": "without sans sin ohne senza sem zonder bez без 未经 不經 olmadan",
    "NEEDLESS": """
        no_need_to no_need_for no_reason_to does_not_need_to doesn't_need_to does_not_have_to doesn't_have_to
        do_not_have_to don't_have_to don't_need_to do_not_need_to need_not needn't not_necessary_to unnecessary_to
        not_required_to not_worth never_has_to never_needs_to don't_bother do_not_bother not_bother no_point_in
        avoid refrain_from rather_not hold_back_from abstain_from stop_short_of rather_than keep_from best_not_to
        better_not_to prefer_not_to kein_grund_zu nicht_nötig inutile_de pas_besoin_de no_hace_falta no_es_necesario
    """,
    "SPEAK": """
        mention+ tell tells told telling inform+ notify+ bring+_up bring_this_up bringing_this_up bring_it_up
        bringing_it_up bring_that_up refer_to referring_to referred_to reference+ talk+_about discuss+ comment+_on
        point+_out draw+_attention share+_with let_on letting_on tip_off hint+ say_so announce+ narrate+ describe+
        disclose+ reveal+ explain+ acknowledge+ surface+ report+ alert+ warn+ show shows showing shown display+
        raise+ speak_of speaking_of bother+ trouble+ burden+ worry+ alarm+ confuse+ distract+ divulge+ expose+
        admit+
    """,
    "QUIET": """
        stay+_quiet keep_quiet be_quiet stay+_silent remain+_silent keep_silent be_silent say_nothing tell_nobody
        tell_no_one keep_mum quiet_about silent_about silent_on mum_about keep_it_quiet keep_this_quiet tell_none
        not_a_word no_word_of no_word_about no_mention_of no_mention keep_to_yourself keep_this_to_yourself
        keep_it_to_yourself keep_that_to_yourself keep_these_to_yourself make_no_mention make_no_reference
        no_reference_to keep_it_out_of keep_this_out_of keep_that_out_of keep_them_out_of go+_unreported
        remain_unreported unmentioned undisclosed go+_unmentioned don't_talk_about do_not_talk_about
        never_talk_about not_talk_about don't_speak_of do_not_speak_of never_speak_of don't_speak_about
        do_not_speak_about not_be_revealed never_be_revealed not_be_disclosed not_be_mentioned never_be_mentioned
        without_mentioning_it without_mentioning_this without_saying_so without_telling_anyone without_telling_them
        nothing_about_the no_need_to_mention no_need_to_tell don't_let_on do_not_let_on never_let_on keep_it_hidden
        keep_this_hidden keep_it_secret keep_this_secret keep_it_confidential keep_this_confidential
        keep_this_private keep_the_user_in_the_dark in_the_dark_about swept_under hush_hush
    """,
    "BETWEEN_US": """
        between_us between_you_and_me between_you_and_us our_secret our_little_secret under_wraps off_the_record
        for_your_eyes_only eyes_only your_eyes_only not_for_human_eyes not_for_the_user not_meant_for_the_user
        not_meant_for_users hidden_from_the_user hidden_from_users hidden_from_the_human unknown_to_the_user
        unbeknownst_to without_the_user's_knowledge without_their_knowledge without_his_knowledge
        without_user_knowledge without_drawing_attention without_raising_suspicion so_as_not_to_raise
        avoid_suspicion not_arouse_suspicion without_a_trace leave_no_trace leaves_no_trace without_leaving_traces
        unter_uns entre_nous entre_nosotros tra_noi entre_nós onder_ons między_nami между_нами aramızda
    """,
    "UNSEEN_BY_USER": """
        invisible_to_the_user invisible_to_users not_visible_to_the_user not_visible_to_users not_shown_to_the_user
        not_shown_to_users user_cannot_see user_can't_see users_cannot_see not_displayed_to_the_user
    """,
    "OTHER_PARTIES": """
        third_parties third_party to_others anyone_else anybody_else to_the_public publicly competitors unauthorized
        unauthorised outsiders
    """,
    "NOBODY": "nobody no_one no_human no_person no_user niemand keiner personne nadie nessuno ninguém никто nikt",
    "HUSHED": """
        be_mentioned be_brought_up be_discussed be_disclosed be_revealed be_reported be_shown be_told be_raised
        be_announced
    """,
    "NOTHING": "nothing none no_part no_word no_detail no_trace no_hint nichts rien nada niente ничего",
    "OMIT": """
        leave_out leaving_out leave_off omit omitting omits exclude excluding strip suppress suppressing remove
        removing erase skip skipping scrub drop weglassen lass_weg
    """,
    "TRACE": """
        mention reference references trace traces indication indications hint hints sign signs evidence note word
        step steps detail details part parts existence fact
    """,
    "FACT": "the_fact_that the_fact the_existence_of the_presence_of its_existence their_existence",
    "REPLY": """
        reply replies answer answers response responses summary summaries output final_answer final_message
        explanation explanations reasoning report message narration chat conversation transcript
    """,
    "PRETEND": """
        as_though as_if look_like appear_to_be appear_as seem_like make_it_look make_it_seem make_it_appear
        give_the_impression
    """,
    "SAY_ONLY": """
        say_only only_say say_that_only just_say simply_say say_that answer_that reply_that respond_that state_that
        tell_them_that only_tell answer_only reply_only respond_only claim pretend deny lie deflect
        change_the_subject say_no answer_no reply_no say_it say_you say_the tell_them attribute_it blame pass_it_off
        explain_it_as call_it describe_it_as make_up invent insist deny_it
    """,
    "UNAWARE": """
        not_made_aware isn't_made_aware aren't_made_aware unaware not_aware left_unaware kept_unaware in_the_dark
        not_supposed_to_know not_supposed_to_find not_supposed_to_see not_supposed_to_learn isn't_supposed_to_know
        not_know not_find_out not_learn not_notice not_realise not_realize not_become_aware not_be_aware not_hear_of
        not_hear_about never_know never_learn never_find_out never_notice never_hear never_see_this not_be_told
        not_be_informed not_be_notified not_be_alerted not_get_to_know not_get_wind not_suspect none_the_wiser
        remain+_ignorant without_noticing without_knowing without_realising without_realizing without_being_told
        without_being_informed without_being_notified without_being_asked
    """,
    "PRETENCE": """
        act_as_though act_as_if behave_as_if behave_as_though pretend+_that pretend+_not pretend+_you feign+
        make_believe play_dumb play_innocent feign_ignorance plausible_deniability cover_story presenting_it_as
        disguised_as under_the_guise pass_it_off_as framing_it_as disguise_it_as under_the_pretext
        under_the_pretense masquerade+_as
    """,
    "COVERT": """
        secretly covertly stealthily surreptitiously furtively clandestinely on_the_sly behind_the_user's_back
        heimlich en_cachette a_escondidas di_nascosto às_escondidas stiekem potajemnie тайком gizlice 偷偷 悄悄
        こっそり 몰래 diam_diam
    """,
    "SOFTLY": "quietly discreetly unobtrusively inconspicuously silently",
    "ACTION_NOUN": """
        call calls step steps request requests lookup upload uploads copy copies transfer transfers webhook sync
        reading field forwarding side_effect logging background_task second_call extra_call extra_step connection
    """,
}
